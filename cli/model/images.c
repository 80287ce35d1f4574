/* Joins the images of a process, which begin at each exec. */
#include "cli/model/inside.h"

#include <stdio.h>

struct link {
	uint32_t pid, position;
	int64_t start;
};

static int by_pid(const void *a, const void *b)
{
	const struct link *p = a, *q = b;

	if (p->pid != q->pid)
		return p->pid < q->pid ? -1 : 1;
	if (p->start != q->start)       /* the collector may have received them in another order */
		return p->start < q->start ? -1 : 1;
	return p->position < q->position ? -1 : p->position > q->position;
}

/* pid as the collector sees it; inside pid namespaces, several processes can have the same pid. */
static uint32_t real_pid(const struct process *p)
{
	return p->host_pid ? p->host_pid : p->pid;
}

/* Joins each image that ended by exec with the next image of its pid.  Converts parents from image numbers to process numbers. */
int images_join(struct process *all, uint32_t n)
{
	struct link *links = malloc((n + 1) * sizeof *links);
	uint32_t m = 0;

	if (!links)
		return -1;
	for (uint32_t i = 1; i < n; i++)
		if (all[i].described && real_pid(&all[i]))
			links[m++] = (struct link){ real_pid(&all[i]), i, all[i].start };
	qsort(links, m, sizeof *links, by_pid);
	for (uint32_t i = 1; i < m; i++) {
		struct process *before = &all[links[i - 1].position], *after = &all[links[i].position];

		if (links[i].pid != links[i - 1].pid || !(before->flags & PROCESS_EXECED))
			continue;
		before->after = links[i].position;
		after->before = links[i - 1].position;
		after->number = before->number;
	}
	free(links);
	for (uint32_t i = 1; i < n; i++) {
		uint32_t low = 0, high = n;

		while (high - low > 1) {
			uint32_t mid = low + (high - low) / 2;

			if (all[mid].image <= all[i].parent)
				low = mid;
			else
				high = mid;
		}
		if (all[low].image == all[i].parent)
			all[i].parent = all[low].number;
	}
	return 0;
}

static uint32_t first_of(const struct model *m, uint32_t position)
{
	while (m->processes[position].before)
		position = m->processes[position].before;
	return position;
}

const struct process *process_last(const struct model *m, uint32_t position)
{
	while (m->processes[position].after)
		position = m->processes[position].after;
	return &m->processes[position];
}

bool process_runs(const struct model *m, uint32_t position)
{
	const struct process *p = process_last(m, position);

	return p->described && !(p->flags & PROCESS_ENDED) && !p->end && m->trace.finished &&
	       !process_attribute(p, "imported");
}

uint32_t process_all_flags(const struct model *m, uint32_t position)
{
	uint32_t flags = 0;

	position = first_of(m, position);
	do
		flags |= m->processes[position].flags;
	while ((position = m->processes[position].after));
	return flags;
}

uint32_t model_n_processes(const struct model *m)
{
	uint32_t n = 0;

	for (uint32_t i = 1; i < m->n_processes; i++)
		n += !m->processes[i].before;
	return n;
}

uint32_t model_processes_with(const struct model *m, const unsigned char *kinds)
{
	uint32_t n = 0;

	for (uint32_t i = 1; i < m->n_processes; i++) {
		size_t rows = 0;

		for (uint32_t image = m->processes[i].before ? 0 : i; image; image = m->processes[image].after)
			for (const unsigned char *kind = kinds; *kind; kind++)
				rows += model_process_rows(m, *kind, image);
		n += rows != 0;
	}
	return n;
}

const char *process_images(const struct model *m, uint32_t position, char *buf, size_t size)
{
	static const char arrow[] = " -> ", gap[] = " -> \xe2\x80\xa6 -> ";
	char one[32], end[32];
	const char *last = process_name(process_last(m, position), end, sizeof end), *name;
	size_t at = 0, tail = strlen(last) + sizeof gap;

	for (position = first_of(m, position); m->processes[position].after; position = m->processes[position].after) {
		name = process_name(&m->processes[position], one, sizeof one);
		if (at + sizeof arrow + strlen(name) + tail > size)
			break;
		at += (size_t)snprintf(buf + at, size - at, "%s%s", at ? arrow : "", name);
	}
	snprintf(buf + at, size - at, "%s%s", !at ? "" : m->processes[position].after ? gap : arrow, last);
	return buf;
}
