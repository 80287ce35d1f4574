/*
 * Tests a libtorch_cpu before it is used.  First without running anything: registers a callback for a scope that nothing uses, and asks
 * PyTorch which callbacks it would run.  Then begins and ends a record with known contents.
 */
#include <stdbool.h>
#include <string.h>

#include "inject/core/scratch.h"
#include "inject/torch/torch.h"

#define ROOM   1024u                    /* bytes; at::StepCallbacks has 96 */
#define RECORD 4096u                    /* bytes; at::RecordFunction has up to 0x158 */
#define MAGIC  0x5ec0de5ec0de77ll
#define NAME   "test by gprof-run"

/* Offsets in at::StepCallbacks of what the callbacks ask for; the callbacks come before. */
#define STEP_SCOPE 0x58
#define STEP_NEEDS 0x59

union room {
	uint8_t bytes[RECORD];
	uint64_t words[RECORD / 8];
};

/* About the test record.  Only the testing thread writes it: the callbacks ignore other records. */
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

static bool would_run(const struct torch *t, union room *answer, uint8_t scope, uint8_t needs[4])
{
	memset(answer->bytes, 0, ROOM);
	t->step_callbacks(answer->bytes, scope);
	memcpy(needs, answer->bytes + STEP_SCOPE, 4);
	for (unsigned i = 0; i < 12; i++)
		if (answer->words[i] == (uintptr_t)start && answer->words[i + 1] == (uintptr_t)end)
			return true;
	return false;
}

static const char *try_dry(const struct torch *t, union room *answer)
{
	for (unsigned need = 0; need < 3; need++) {
		struct torch_callback c = callback_for(TORCH_STATIC_MODEL);
		uint8_t needs[4], others[4];
		uint64_t handle;
		bool here, there;

		(&c.inputs)[need] = 1;
		handle = t->add(c);
		here = would_run(t, answer, TORCH_STATIC_MODEL, needs);
		there = would_run(t, answer, TORCH_STATIC_OP, others);
		t->remove(handle);
		if (!here || there)
			return "at::getStepCallbacks() does not return a callback for one scope exactly there";
		if (needs[0] != TORCH_STATIC_MODEL || needs[1] != (need == 0) || needs[2] != (need == 1) || needs[3] != (need == 2))
			return "unexpected layout of at::StepCallbacks (scope and needs_... flags)";
	}
	return would_run(t, answer, TORCH_STATIC_MODEL, (uint8_t[4]){ 0 }) ? "at::removeCallback() did not remove the callback" : NULL;
}

/* ---- a test record ---- */

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

/* Returns the offset of the one word that has this value; 0: none or several. */
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

static const char *try_record(struct torch *t, union room *r)
{
	struct torch_callback c = callback_for(TORCH_USER);
	uint64_t handle = t->add(c);
	const char *wrong = NULL;
	bool silent;

	trial.torch = t;
	trial.started = trial.ended = 0;
	trial.named = trial.spoilt = false;
	begin_record(t, r, TORCH_USER);
	t->sequence = place_of(r, MAGIC);
	if (r->bytes[TORCH_SCOPE] != TORCH_USER || *(const uint64_t *)(r->bytes + TORCH_THREAD) == 0)
		wrong = "unexpected layout of at::RecordFunction (scope, thread id)";
	end_record(t, r);
	silent = trial.started == 1 && trial.ended == 1;
	begin_record(t, r, TORCH_STATIC_MODEL);
	end_record(t, r);
	t->remove(handle);
	if (wrong)
		return wrong;
	if (!silent || trial.started != 1 || trial.ended != 1 || trial.spoilt)
		return "an at::RecordFunction did not call back once at its begin and once at its end";
	if (!trial.named)
		return "at::RecordFunction::name() does not return the name that was set";
	return t->sequence ? NULL : "unexpected layout of at::RecordFunction (sequence number)";
}

/*
 * PyTorch numbers records if a callback asks for it: the number grows by one per record, and the forward thread is the word before.  If
 * this fails, forward threads are not recorded.
 */
static void find_forward_thread(struct torch *t, union room *first, union room *second)
{
	struct torch_callback c = callback_for(TORCH_STATIC_MODEL);
	uint32_t found = 0, n = 0;
	uint64_t handle;

	c.ids = 1;
	handle = t->add(c);
	begin_record(t, first, TORCH_STATIC_MODEL);
	begin_record(t, second, TORCH_STATIC_MODEL);
	for (uint32_t i = t->sequence / 8 + 3; i < 128; i++) {
		if (first->words[i] && second->words[i] == first->words[i] + 1) {
			found = i * 8;
			n++;
		}
	}
	if (n == 1 && first->words[found / 8 - 1] == 0 && second->words[found / 8 - 1] == 0)
		t->forward_thread = found - 8;
	end_record(t, second);
	end_record(t, first);
	t->remove(handle);
}

static const char *try_all(struct torch *t, union room rooms[2])
{
	const char *wrong = try_dry(t, &rooms[0]);

	if (!wrong)
		wrong = try_record(t, &rooms[0]);
	if (!wrong)
		find_forward_thread(t, &rooms[0], &rooms[1]);
	return wrong;
}

const char *torch_try(struct torch *t)
{
	const char *wrong;
	union room *rooms;

#ifndef __x86_64__
	/* C++ passes the address for a result in memory in a register that C cannot set. */
	return "PyTorch is observed on x86-64 only";
#endif
	if (t->version && t->version() >> 56 != 2)
		return "the major version is not 2";
	if (!(rooms = scratch_push(2 * sizeof *rooms)))
		return "not enough memory to test it";
	wrong = try_all(t, rooms);
	scratch_pop(rooms);
	return wrong;
}
