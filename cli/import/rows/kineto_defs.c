/* Definitions that rows refer to: launch configurations, devices, contexts, streams, domains. */
#include <string.h>

#include "cli/import/rows/kineto.h"

/* Reads [x, y, z]; missing dimensions are 1, all are 0 if the event does not have the argument. */
static void three(const struct event *e, enum arg_place place, uint32_t out[3])
{
	const struct json_value *v = kineto_value(e, place);
	unsigned n = 0;

	if (e->threes & 1ull << place) {
		memcpy(out, e->three[place == ARG_BLOCK], 3 * sizeof *out);
		return;
	}
	out[0] = out[1] = out[2] = e->has & 1ull << place ? 1 : 0;
	if (!v || (v->type != JSON_LIST && v->type != JSON_TEXT))
		return;
	for (const uint8_t *p = v->at, *end = p + v->n; p < end && n < 3;) {
		uint64_t x = 0;

		if (*p < '0' || *p > '9') {
			p++;
			continue;
		}
		for (; p < end && *p >= '0' && *p <= '9'; p++)
			x = x * 10 + (*p - '0');
		out[n++] = (uint32_t)x;
	}
}

static uint64_t mixed(uint64_t h, uint64_t v)
{
	h = (h ^ v) * 0x9e3779b97f4a7c15ull;
	return h ^ h >> 29;
}

uint32_t kineto_put_config(struct kineto *k, struct config_row row)
{
	uint32_t n = (uint32_t)(k->config.len / sizeof row);
	uint64_t key = 0, all[sizeof row / 8];
	bool new;

	row.id = 0;
	memcpy(all, &row, sizeof row);
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		key = mixed(key, all[i]);
	for (;; key++) {        /* on a collision, the next key */
		uint32_t *at = map_put(&k->configs, key, n, &new);
		const struct config_row *old;

		if (!at)
			return k->texts.oom = true, 0;
		if (new) {
			row.id = n + 1;
			buf_put(&k->config, &row, sizeof row);
			return row.id;
		}
		old = (const struct config_row *)k->config.data + (*at - 1);
		row.id = old->id;
		if (memcmp(old, &row, sizeof row) == 0)
			return row.id;
	}
}

uint32_t kineto_config_id(struct kineto *k, const struct event *e)
{
	struct config_row row = {
		.registers = (uint32_t)kineto_whole(e, ARG_REGISTERS, 0),
		.dynamic_shared = (uint32_t)kineto_whole(e, ARG_SHARED, 0),
	};

	uint32_t grid[3], block[3];

	if (!(e->has & (1ull << ARG_GRID | 1ull << ARG_BLOCK)))
		return 0;
	three(e, ARG_GRID, grid);
	three(e, ARG_BLOCK, block);
	row.grid_x = grid[0];
	row.grid_y = grid[1];
	row.grid_z = grid[2];
	row.block_x = block[0];
	row.block_y = block[1];
	row.block_z = block[2];
	return kineto_put_config(k, row);
}

void kineto_stream(struct kineto *k, int32_t priority, uint32_t device, uint32_t context, uint32_t stream)
{
	struct context_row c = { .id = context, .device = device, .api = 1 };
	struct stream_row s = { .id = stream, .context = context, .priority = priority };
	uint64_t key = (uint64_t)context << 32 | stream;
	bool new = false;

	if (k->stream.len && key == k->last_stream)
		return;
	if (!map_put(&k->contexts, context, 0, &new))
		k->texts.oom = true;
	if (new)
		buf_put(&k->context, &c, sizeof c);
	new = false;
	if (stream != STREAM_NONE && !map_put(&k->streams, key, 0, &new))
		k->texts.oom = true;
	if (new)
		buf_put(&k->stream, &s, sizeof s);
	k->last_stream = key;
}

uint32_t kineto_domain(struct kineto *k, const char *name)
{
	struct domain_row row = { .name = texts_put(&k->texts, name, strlen(name)) };
	uint32_t n = (uint32_t)(k->domain.len / sizeof row), *at;
	bool new;

	at = map_put(&k->domains, row.name, n, &new);
	if (!at)
		return k->texts.oom = true, 0;
	row.id = n + 1;
	if (new)
		buf_put(&k->domain, &row, sizeof row);
	return *at;             /* value + 1 is the id */
}

enum json_type kineto_device(struct kineto *k)
{
	struct device_row row = { .id = (uint32_t)(k->device.len / sizeof row), .flags = DEVICE_VISIBLE };
	struct json_value key, v;
	enum json_type type;
	int64_t n, threads = 0;

	while ((type = scan_key(&k->scan, &key)) == JSON_TEXT) {
		const struct { const char *key; uint32_t *to; } numbers[] = {
			{ "id", &row.id }, { "numSms", &row.sm_count }, { "computeMajor", &row.cc_major },
			{ "computeMinor", &row.cc_minor }, { "warpSize", &row.warp },
			{ "maxThreadsPerBlock", &row.max_threads_block }, { "sharedMemPerMultiprocessor", &row.max_shared_sm },
			{ "regsPerMultiprocessor", &row.max_registers_sm }, { "sharedMemPerBlockOptin", &row.max_shared_block },
			{ "regsPerBlock", &row.max_registers_block },
		};

		type = scan_value(&k->scan, &v);
		if (type <= JSON_BAD)
			return type;
		if (key.n == 4 && memcmp(key.at, "name", 4) == 0 && v.type == JSON_TEXT)
			row.name = texts_value(&k->texts, &v);
		if (!json_whole(&v, &n))
			continue;
		if (key.n == 14 && memcmp(key.at, "totalGlobalMem", 14) == 0)
			row.memory = (uint64_t)n;
		if (key.n == 27 && memcmp(key.at, "maxThreadsPerMultiprocessor", 27) == 0)
			threads = n;
		for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
			if (key.n == strlen(numbers[i].key) && memcmp(key.at, numbers[i].key, key.n) == 0)
				*numbers[i].to = (uint32_t)n;
	}
	if (row.warp && threads)
		row.max_warps_sm = (uint32_t)(threads / row.warp);
	buf_put(&k->device, &row, sizeof row);
	return type;
}
