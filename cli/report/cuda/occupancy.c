/* occupancy: theoretical occupancy of each kernel and launch configuration, and the resource that limits it. */
#include "cli/model/gpu/occupancy.h"

#include "cli/report/parts/sums.h"
#include "cli/report/parts/whole_graphs.h"
#include "cli/report/parts/why.h"
#include "trace/grow.h"

#include <pthread.h>
#include <stdlib.h>

static const struct heading columns[] = {
	{ "gpu_pct", COLUMN_KEY }, { "gpu_ns", 0 }, { "count", 0 }, { "mean_ns", 0 },
	{ "occupancy_pct", COLUMN_KEY }, { "limited_by", COLUMN_TEXT | COLUMN_KEY | COLUMN_PLAIN }, { "blocks_per_sm", 0 }, { "waves", 0 },
	{ "grid", COLUMN_TEXT | COLUMN_RARE }, { "block", COLUMN_TEXT | COLUMN_RARE }, { "registers_per_thread", COLUMN_RARE },
	{ "shared_bytes", COLUMN_RARE }, { "device", COLUMN_ID | COLUMN_RARE }, { "name", COLUMN_TEXT },
};

/* Process, device and launch configuration; its position in places.list is the upper half of a key, the kernel's name the lower. */
struct launch_config {
	uint32_t process, device, config;
};

static struct {
	pthread_mutex_t lock;           /* the two threads of a pass add places */
	struct map index;
	struct launch_config *list;
	size_t cap;
	uint32_t run;                   /* number of the report's run, from 1: tells stale entries of recent[] */
} places = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* Per-thread cache of find_place(), by configuration modulo RECENT: most rows need no lock. */
#define RECENT 256u
static __thread struct {
	uint64_t key;
	uint32_t place, run;
} recent[RECENT];

static uint32_t find_place(uint64_t key, uint32_t process, uint32_t device, uint32_t config)
{
	uint32_t *at, place = MAP_NONE;
	bool new = false;

	pthread_mutex_lock(&places.lock);
	at = GROW(places.list, places.index.n + 1, places.cap) ?
	     map_put(&places.index, key, (uint32_t)places.index.n, &new) : NULL;
	if (at)
		place = *at - 1;
	if (new)
		places.list[place] = (struct launch_config){ process, device, config };
	pthread_mutex_unlock(&places.lock);
	return place;
}

static uint32_t place_of(uint32_t process, uint32_t device, uint32_t config)
{
	uint64_t key = (uint64_t)process << 40 | (uint64_t)(device & 0xff) << 32 | config;
	uint32_t i = config % RECENT;

	if (recent[i].run != places.run || recent[i].key != key) {
		recent[i].place = find_place(key, process, device, config);
		recent[i].key = key;
		recent[i].run = recent[i].place == MAP_NONE ? 0 : places.run;
	}
	return recent[i].place;
}

static bool by_place_and_name(struct sums *s, const struct batch *b, size_t row, uint64_t *key)
{
	uint32_t place =
		place_of(b->process, ((const uint32_t *)b->column[3])[row], ((const uint32_t *)b->column[4])[row]);

	s->groups.oom |= place == MAP_NONE;
	*key = (uint64_t)place << 32 | ((const uint32_t *)b->column[2])[row];
	return place != MAP_NONE;
}

static uint64_t as_printed(void *m, uint64_t key)
{
	return (key & ~0xffffffffull) | model_name(m, (uint32_t)key, NAME_DEMANGLED);
}

static const char *limits_text(struct table *t, const struct occupancy *o)
{
	static const char *const words[] = { "warps", "blocks", "registers", "shared memory" };
	char text[64];
	size_t n = 0;

	for (size_t i = 0; i < 4; i++)
		if (o->limits & 1u << i)
			n += (size_t)snprintf(text + n, sizeof text - n, "%s%s", n ? ", " : "", words[i]);
	return table_keep(t, "%s", text);
}

/* Waves: blocks of the grid / blocks that the whole GPU holds at a time.  Below 1, some multiprocessors have free room. */
static struct cell waves_of(const struct config_row *c, const struct device_row *d, const struct occupancy *o)
{
	uint64_t blocks = (uint64_t)c->grid_x * c->grid_y * c->grid_z, room = (uint64_t)o->blocks * d->sm_count;

	return room ? FIXED((int64_t)(((unsigned __int128)blocks * 100 + room / 2) / room), 2) : UNKNOWN;
}

/* Why the occupancy of a launch is unknown; LACKS_NOTHING: it is known. */
enum lack { LACKS_NOTHING, LACKS_CONFIG, LACKS_DEVICE, LACKS_RULES, LACKS };

static const char *const lack_words[LACKS] = {
	[LACKS_CONFIG] = "the trace lacks their launch configuration (grid, block, registers)",
	[LACKS_DEVICE] = "the trace lacks the properties of their device",
	[LACKS_RULES] = "their device is not NVIDIA's, whose rules are used, or the trace lacks its properties",
};

static enum lack put_kernel(struct sums *s, struct table *t, const struct series *g, unsigned __int128 all)
{
	const struct launch_config *p = &places.list[g->key >> 32];
	const struct config_row *c = model_config(s->m, p->process, p->config);
	const struct device_row *d = model_device(s->m, p->process, p->device);
	struct occupancy o = { 0 };
	bool known = c && d && occupancy_of(c, d, &o);

	table_row(t, (const struct cell[]){
			     g->n ? FIXED(share(g->sum, all), 1) : UNKNOWN, g->n ? NUMBER(g->sum) : UNKNOWN,
			     NUMBER(g->rows), g->n ? FIXED(series_mean(g, 10, 1), 1) : UNKNOWN,
			     known ? FIXED(share(o.warps, o.most_warps), 1) : UNKNOWN,
			     known ? TEXT(limits_text(t, &o)) : UNKNOWN, known ? NUMBER(o.blocks) : UNKNOWN,
			     known ? waves_of(c, d, &o) : UNKNOWN,
			     c ? TEXT(table_keep(t, "%u %u %u", c->grid_x, c->grid_y, c->grid_z)) : UNKNOWN,
			     c ? TEXT(table_keep(t, "%u %u %u", c->block_x, c->block_y, c->block_z)) : UNKNOWN,
			     c && c->registers ? NUMBER(c->registers) : UNKNOWN,
			     c ? NUMBER((uint64_t)c->static_shared + c->dynamic_shared) : UNKNOWN, NUMBER(p->device),
			     TEXT(model_string(s->m, (uint32_t)g->key)) });
	return known ? LACKS_NOTHING : !c ? LACKS_CONFIG : !d || !d->warp ? LACKS_DEVICE : LACKS_RULES;
}

static void print(struct sums *s, struct table *t)
{
	unsigned __int128 all = 0;
	uint64_t rows[LACKS] = { 0 };

	groups_sort(&s->groups);
	for (size_t i = 0; i < s->groups.n; i++)
		all += s->groups.list[i].sum;
	for (size_t i = 0; i < s->groups.n; i++)
		rows[put_kernel(s, t, &s->groups.list[i], all)] += s->groups.list[i].rows;
	for (int i = LACKS_NOTHING + 1; i < LACKS; i++)
		if (rows[i])
			table_note(t, "occupancy of %llu kernels is not known: %s", (unsigned long long)rows[i], lack_words[i]);
	if (rows[LACKS_NOTHING])
		table_note(t, "occupancy is theoretical: what a multiprocessor can hold; the number of warps that were active is not "
			      "recorded");
	if (s->untimed)
		table_note(t,
			   "rows without a time, because CUPTI gave none: %llu; they count as rows, but in no time",
			   (unsigned long long)s->untimed);
}

static int run(struct model *m, struct table *t, const char *variant)
{
	static const unsigned fields[] = {
		COL_kernel_duration, COL_kernel_start | MODEL_IF_ZERO, COL_kernel_name, COL_kernel_device,
		COL_kernel_config,
	};
	struct sums s = { .m = m };
	int rc;

	(void)variant;
	places.run++;
	rc = sums_pass(&s, ROW_kernel, fields, 5, by_place_and_name);
	if (rc == 0)
		rc = groups_rekey(&s.groups, as_printed, m);
	if (rc == 0) {
		print(&s, t);
		rc = whole_graphs_note(m, t);
	}
	if (rc == 0 && !s.groups.n && !model_rows(m, ROW_graph))
		why_no_gpu(m, t, "kernels");
	if (rc == 0 && s.groups.n)
		why_gaps(m, t);
	sums_release(&s);
	map_release(&places.index);
	free(places.list);
	places.list = NULL;
	places.cap = 0;
	return rc;
}

const struct report report_cuda_gpu_kern_occupancy = {
	.name = "occupancy",
	.share = "gpu_pct: share of the GPU time of all rows; occupancy_pct: warps of the kernel that fit a multiprocessor at once, as a share of "
		 "all warps that it can hold",
	.title = "CUDA GPU Kernel Occupancy",
	.help = "What is the theoretical occupancy of each kernel, and which resource limits it?",
	.needs = NEED_KERNELS,
	.adds = { ROW_kernel },
	COLUMNS(columns),
	.run = run,
};
