/*
 * Nothing is believed of a libtorch_cpu that it has not shown.  First without running anything: a callback for a scope that nobody fires is
 * registered, and PyTorch is asked what it would run.  Then one record of our own is begun and ended, whose parts are known.
 */
#include <stdbool.h>
#include <string.h>

#include "inject/torch.h"

#define ROOM   1024u                    /* at::StepCallbacks has 96 bytes */
#define RECORD 4096u                    /* at::RecordFunction has up to 0x158 */
#define MAGIC  0x5ec0de5ec0de77ll
#define NAME   "gprof-run looks whether it understands this PyTorch"

/* Where at::StepCallbacks keeps what the callbacks ask for; its first part holds them. */
#define STEP_SCOPE 0x58
#define STEP_NEEDS 0x59

union room {
	uint8_t bytes[RECORD];
	uint64_t words[RECORD / 8];
};

/* Of the record that is tried; written by the thread that tries alone, as only that record is looked at. */
static struct {
	const struct torch *torch;
	const void *record;
	unsigned started, ended;
	bool named, spoilt;
} trial;

static void *start(void **context, const void *record)
{
	*context = NULL;
	if (record == trial.record) {
		const char *name = trial.torch->name(record);

		trial.started++;
		trial.named = name && strcmp(name, NAME) == 0;
	}
	return context;
}

static void end(const void *record, void *context)
{
	if (record == trial.record) {
		trial.ended++;
		trial.spoilt |= context != NULL;
	}
}

static struct torch_callback callback_for(uint8_t scope)
{
	struct torch_callback c = { .start = start, .end = end, .probability = 1.0 };

	c.scopes[scope] = 1;
	return c;
}

/* ---- without running anything ---- */

static bool would_run(const struct torch *t, uint8_t scope, uint8_t needs[4])
{
	union room answer;

	memset(answer.bytes, 0, ROOM);
	t->step_callbacks(answer.bytes, scope);
	memcpy(needs, answer.bytes + STEP_SCOPE, 4);
	for (unsigned i = 0; i < 12; i++)
		if (answer.words[i] == (uintptr_t)start && answer.words[i + 1] == (uintptr_t)end)
			return true;
	return false;
}

static const char *try_dry(const struct torch *t)
{
	for (unsigned need = 0; need < 3; need++) {
		struct torch_callback c = callback_for(TORCH_STATIC_MODEL);
		uint8_t needs[4], others[4];
		uint64_t handle;
		bool here, there;

		(&c.inputs)[need] = 1;
		handle = t->add(c);
		here = would_run(t, TORCH_STATIC_MODEL, needs);
		there = would_run(t, TORCH_STATIC_OP, others);
		t->remove(handle);
		if (!here || there)
			return "a callback for one scope is not there, or for another";
		if (needs[0] != TORCH_STATIC_MODEL || needs[1] != (need == 0) || needs[2] != (need == 1) || needs[3] != (need == 2))
			return "what a callback asks for lies elsewhere";
	}
	return would_run(t, TORCH_STATIC_MODEL, (uint8_t[4]){ 0 }) ? "a removed callback is still there" : NULL;
}

/* ---- one record of our own ---- */

static void begin_record(const struct torch *t, union room *r, uint8_t scope)
{
	memset(r, 0, sizeof *r);
	trial.record = r;
	t->construct(r, scope);
	if (t->before)
		t->before(r, (struct torch_text){ .length = sizeof NAME - 1, .text = NAME }, MAGIC);
	else
		t->before_old(r, NAME, MAGIC);
}

static void end_record(const struct torch *t, union room *r)
{
	t->destruct(r);
	trial.record = NULL;
}

/* Place of the one word that has this value; 0: none or several. */
static uint32_t place_of(const union room *r, uint64_t value)
{
	uint32_t found = 0, n = 0;

	for (uint32_t i = 1; i < 128; i++) {
		if (r->words[i] == value) {
			found = i * 8;
			n++;
		}
	}
	return n == 1 ? found : 0;
}

static const char *try_record(struct torch *t)
{
	struct torch_callback c = callback_for(TORCH_USER);
	union room r;
	uint64_t handle = t->add(c);
	const char *wrong = NULL;
	bool silent;

	trial.torch = t;
	trial.started = trial.ended = 0;
	trial.named = trial.spoilt = false;
	begin_record(t, &r, TORCH_USER);
	t->sequence = place_of(&r, MAGIC);
	if (r.bytes[TORCH_SCOPE] != TORCH_USER || *(const uint64_t *)(r.bytes + TORCH_THREAD) == 0)
		wrong = "scope or thread of a record lie elsewhere";
	end_record(t, &r);
	silent = trial.started == 1 && trial.ended == 1;
	begin_record(t, &r, TORCH_STATIC_MODEL);
	end_record(t, &r);
	t->remove(handle);
	if (wrong)
		return wrong;
	if (!silent || trial.started != 1 || trial.ended != 1 || trial.spoilt)
		return "a record did not call back once at its begin and once at its end";
	if (!trial.named)
		return "a record has another name";
	return t->sequence ? NULL : "a record has no place for its sequence number";
}

/*
 * Records are numbered if someone asks: the number grows by one from one to the next, and the forward thread stands before it.  Not found:
 * then it is not recorded.
 */
static void find_forward_thread(struct torch *t)
{
	struct torch_callback c = callback_for(TORCH_STATIC_MODEL);
	union room first, second;
	uint32_t found = 0, n = 0;
	uint64_t handle;

	c.ids = 1;
	handle = t->add(c);
	begin_record(t, &first, TORCH_STATIC_MODEL);
	begin_record(t, &second, TORCH_STATIC_MODEL);
	for (uint32_t i = t->sequence / 8 + 3; i < 128; i++) {
		if (first.words[i] && second.words[i] == first.words[i] + 1) {
			found = i * 8;
			n++;
		}
	}
	if (n == 1 && first.words[found / 8 - 1] == 0 && second.words[found / 8 - 1] == 0)
		t->forward_thread = found - 8;
	end_record(t, &second);
	end_record(t, &first);
	t->remove(handle);
}

const char *torch_try(struct torch *t)
{
	const char *wrong;

#ifndef __x86_64__
	/* What C++ returns in memory has its address in a register of its own there, which C cannot say. */
	return "this is not x86-64";
#endif
	if (t->version && t->version() >> 56 != 2)
		return "it is not PyTorch 2";
	wrong = try_dry(t);
	if (!wrong)
		wrong = try_record(t);
	if (!wrong)
		find_forward_thread(t);
	return wrong;
}
