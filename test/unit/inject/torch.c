#include <stdlib.h>
#include <string.h>

#include "inject/torch/torch_abi.h"
#include "inject/torch/torch_context.h"
#include "inject/ranges/ranges.h"
#include "inject/torch/torch_inputs.h"
#include "inject/torch/id_cache.h"
#include "inject/torch/torch_steps.h"
#include "inject/torch/torch_values.h"
#include "test/unit/inject/fake.h"
#include "test/unit/test.h"

/* ---- ranges that are ended by their id ---- */

static uint64_t begin(struct stream *s, uint32_t name)
{
	const struct open_range *r = ranges_begin(s, &(struct range_what){ .domain = 1, .name = name });

	return r ? r->id : 0;
}

TEST(ranges_with_known_ids_end_in_any_order)
{
	const struct range_row *row;
	struct stream *s;
	uint64_t a, b, c;

	fake_session(4, 4);
	s = stream_enter();
	a = begin(s, 11);
	ranges_push(s, &(struct range_what){ .domain = 0, .name = 22 });
	b = begin(s, 33);
	c = begin(s, 44);
	CHECK_EQ(stream_range(s), c);
	ranges_finish(s, a);
	ranges_forget(s, c);
	CHECK_EQ(stream_range(s), b);
	ranges_finish(s, b);
	ranges_finish(s, b);
	CHECK_EQ(ranges_pop(s, 0), 0);
	CHECK_EQ(fake_count(ROW_range), 3);
	row = fake_row(ROW_range, 0);
	CHECK_EQ(row->name, 11);
	CHECK_EQ(row->level, 0);
	row = fake_row(ROW_range, 1);
	CHECK_EQ(row->name, 33);
	CHECK_EQ(row->level, 1);
	CHECK_EQ(s->slot->depth, 0);
	stream_leave(s);
}

TEST(a_range_deeper_than_the_limit_has_no_id_and_leaves_pops_of_nvtx_alone)
{
	struct stream *s;

	fake_session(4, 4);
	s = stream_enter();
	ranges_push(s, &(struct range_what){ .domain = 0, .name = 1 });
	for (uint32_t i = 1; i < MAX_DEPTH; i++)
		CHECK(begin(s, i + 1) != 0);
	CHECK_EQ(begin(s, 999), 0);
	CHECK_EQ(guest->arena->health[HEALTH_too_deep].count, 1);
	CHECK_EQ(ranges_pop(s, 0), 0);
	stream_leave(s);
}

/* ---- inputs ---- */

/* A tensor as c10::TensorImpl has it, its sizes at 0x40. */
static void tensor(uint64_t *words, unsigned dtype, int n, const int64_t *dims)
{
	char *at = (char *)words;

	memset(at, 0, 0x100);
	*(uint64_t *)(at + 0x40) = (uint64_t)n;
	if (n <= 5)
		memcpy(at + 0x48, dims, (size_t)n * 8);
	else
		*(const int64_t **)(at + 0x48) = dims;
	*(uint16_t *)(at + 0x40 + 0x68) = (uint16_t)dtype;
}

static int32_t get_dim(const void *t, int64_t *n)
{
	*n = *(int64_t *)(*(char *const *)t + 0x40);
	return 0;
}

static int32_t get_sizes(const void *t, int64_t **sizes)
{
	*sizes = (int64_t *)(*(char *const *)t + 0x48);
	return 0;
}

static int32_t get_dtype(const void *t, int32_t *dtype)
{
	*dtype = *(uint16_t *)(*(char *const *)t + 0x40 + 0x68);
	return 0;
}

static uint64_t version(void)
{
	return 2ull << 56 | 13ull << 48;
}

TEST(inputs_are_written_as_kineto_writes_them)
{
	static const int64_t two[] = { 8, 3 }, six[] = { 1, 2, 3, 4, 5, 6 };
	static uint64_t a[32], b[32], scalar[32], none[32], type[2], int_type[2];
	struct torch_value in_list[2] = { { (uintptr_t)a, TORCH_TENSOR, 0 }, { (uintptr_t)b, TORCH_TENSOR, 0 } };
	struct torch_value ints[2] = { { 1, TORCH_INT, 0 }, { 2, TORCH_INT, 0 } };
	uint64_t tensors[6] = { 0, 1 | 1ull << 32, (uintptr_t)in_list, (uintptr_t)(in_list + 2), (uintptr_t)(in_list + 2), (uintptr_t)type };
	uint64_t scalars[6] = { 0, 1 | 1ull << 32, (uintptr_t)ints, (uintptr_t)(ints + 2), (uintptr_t)(ints + 2), (uintptr_t)int_type };
	struct torch_value values[] = {
		{ (uintptr_t)a, TORCH_TENSOR, 0 }, { (uintptr_t)b, TORCH_TENSOR, 0 }, { (uintptr_t)scalar, TORCH_TENSOR, 0 },
		{ (uintptr_t)none, TORCH_TENSOR, 0 }, { 3, TORCH_INT, 0 }, { 1, 10, 0 }, { 0, 0, 0 }, { (uintptr_t)tensors, 14, 0 },
		{ (uintptr_t)scalars, 14, 0 },
	};
	uint64_t record[64] = { 0 };
	struct torch t = { .dim = get_dim, .sizes = get_sizes, .dtype = get_dtype, .version = version, .undefined = none, .sequence = 0xc8 };
	struct torch_inputs in;
	char text[400];

	tensor(a, 6, 2, two);
	tensor(b, 4, 6, six);
	tensor(scalar, 7, 0, two);
	tensor(none, 0, 1, two);
	type[1] = 3;            /* c10::TypeKind::TensorType; any other is a list of something else */
	int_type[1] = 14;
	record[0xd0 / 8] = (uintptr_t)values;
	record[0xd8 / 8] = sizeof values / sizeof *values;
	torch_inputs_read(&in, &t, record);
	torch_inputs_dims(&in, text, sizeof text);
	CHECK_STR(text, "[[8, 3], [1, 2, 3, 4, 5, 6], [], [], [], [], [], [[8, 3], [1, 2, 3, 4, 5, 6]], []]");
	torch_inputs_types(&in, text, sizeof text);
	CHECK_STR(text, "[\"float\", \"long int\", \"double\", \"\", \"Scalar\", \"Scalar\", \"\", \"TensorList\", \"ScalarList\"]");
	values[0] = values[8];
	record[0xd8 / 8] = 1;
	torch_inputs_read(&in, &t, record);
	torch_inputs_types(&in, text, sizeof text);
	CHECK_STR(text, "[\"ScalarList\"]");
	torch_inputs_dims(&in, text, 2);
	CHECK_STR(text, "[");
}

static uint64_t bits_of(double d)
{
	uint64_t bits;

	memcpy(&bits, &d, sizeof bits);
	return bits;
}

/* Of a record with these inputs. */
static const char *values_of(const struct torch *t, const struct torch_value *values, uint64_t n)
{
	static char text[400];
	uint64_t record[64] = { 0 };
	struct torch_inputs in;

	record[0xd0 / 8] = (uintptr_t)values;
	record[0xd8 / 8] = n;
	torch_inputs_read(&in, t, record);
	torch_values_text(&in.values, text, sizeof text);
	return text;
}

#define LIST(name, of, kind)                                                                                                                    \
	static uint64_t name##_type[2] = { 0, (kind) };                                                                                         \
	uint64_t name[7] = { 0, 1 | 1ull << 32, (uintptr_t)(of), (uintptr_t)((of) + sizeof(of) / sizeof *(of)),                                 \
			     (uintptr_t)((of) + sizeof(of) / sizeof *(of)), (uintptr_t)name##_type }

TEST(inputs_that_are_no_tensors_are_written_as_kineto_writes_them)
{
	struct torch_value ints[] = { { 1, TORCH_INT, 0 }, { (uint64_t)-2, TORCH_INT, 0 } };
	/* A boolean sets one byte of eight. */
	struct torch_value bools[] = { { 0xdead01, 10, 0 }, { 0xdead00, 10, 0 } }, doubles[] = { { bits_of(2), TORCH_DOUBLE, 0 }, { bits_of(1.5), TORCH_DOUBLE, 0 } };
	struct torch_value odd[] = { { 1, TORCH_INT, 0 }, { 1, 10, 0 } }, none[1];
	struct torch t = { .version = version, .sequence = 0xc8 };
	LIST(int_list, ints, 4);
	LIST(bool_list, bools, 5);
	LIST(double_list, doubles, 6);
	LIST(odd_list, odd, 4);
	LIST(empty, none, 4);
	LIST(broken, none, 4);
	struct torch_value values[] = {
		{ 7, TORCH_INT, 0 }, { 0xdead01, 10, 0 }, { 0, 0, 0 }, { bits_of(1e-7), TORCH_DOUBLE, 0 }, { bits_of(-10000000000.), TORCH_DOUBLE, 0 },
		{ bits_of(1e20), TORCH_DOUBLE, 0 }, { bits_of(1 / 0.), TORCH_DOUBLE, 0 }, { (uintptr_t)int_list, 14, 0 },
		{ (uintptr_t)bool_list, 14, 0 }, { (uintptr_t)double_list, 14, 0 }, { (uintptr_t)empty, 14, 0 }, { 1, TORCH_COMPLEX, 0 },
	};
	struct torch_value wrong[] = { { (uintptr_t)odd_list, 14, 0 }, { (uintptr_t)broken, 14, 0 }, { 2, 10, 0 }, { 0, 14, 0 } };

	torch_inputs_begin();
	empty[3] = empty[4] = empty[2];
	broken[3] = broken[2] - 16;
	CHECK_STR(values_of(&t, values, sizeof values / sizeof *values),
		  "[\"7\", \"True\", \"\", \"9.9999999999999995e-08\", \"-10000000000.\", \"1e+20\", \"inf\", \"[1, -2]\", \"[True, False]\", "
		  "\"[2., 1.5]\", \"[]\", \"\"]");
	CHECK_STR(values_of(&t, wrong, sizeof wrong / sizeof *wrong), "[\"\", \"\", \"\", \"\"]");
	/* Before anything is known of lists, what is none is not believed; nothing is read where nothing is. */
	torch_inputs_begin();
	wrong[0].payload = 0x1234568;
	CHECK_STR(values_of(&t, wrong, 2), "[\"\", \"\"]");
	CHECK_STR(values_of(&t, values + 7, 1), "[\"[1, -2]\"]");
}

static uint64_t version_2_8(void)
{
	return 2ull << 56 | 8ull << 48;
}

static const char *convolution(const void *record)
{
	(void)record;
	return "aten::convolution";
}

static const char *other(const void *record)
{
	(void)record;
	return "aten::other";
}

TEST(tags_of_an_older_pytorch_are_those_of_its_version_or_learnt_at_its_first_convolution)
{
	struct torch_value ints[] = { { 1, TORCH_INT, 0 }, { 2, TORCH_INT, 0 } };
	struct torch t = { .name = other, .sequence = 0xc8 };
	LIST(list, ints, 4);
	struct torch_value l = { (uintptr_t)list, 13, 0 };
	struct torch_value values[] = { { 0, TORCH_TENSOR, 0 }, { 0, TORCH_TENSOR, 0 }, { 0, 0, 0 }, l, l, l, { 1, 9, 0 }, l, { 1, TORCH_INT, 0 } };

	torch_inputs_begin();
	CHECK_STR(values_of(&t, values, 9), "[\"\", \"\", \"\", \"\", \"\", \"\", \"\", \"\", \"1\"]");
	t.name = convolution;
	CHECK_STR(values_of(&t, values, 9), "[\"\", \"\", \"\", \"[1, 2]\", \"[1, 2]\", \"[1, 2]\", \"True\", \"[1, 2]\", \"1\"]");
	CHECK_STR(values_of(&t, values + 6, 2), "[\"True\", \"[1, 2]\"]");
	torch_inputs_begin();
	t.name = other;
	t.version = version_2_8;
	CHECK_STR(values_of(&t, values + 6, 2), "[\"True\", \"[1, 2]\"]");
	t = (struct torch){ .name = convolution, .sequence = 0xc8 };
	torch_inputs_begin();
	values[6].tag = 10;
	CHECK_STR(values_of(&t, values, 9), "[\"\", \"\", \"\", \"\", \"\", \"\", \"\", \"\", \"1\"]");
	torch_inputs_begin();
}

TEST(inputs_of_other_number_or_value_have_another_key)
{
	/* [[4, 1], []] and [[3, 1]] */
	const uint64_t four[] = { 0x600000201, 4, 1, 0 }, three[] = { 0x600000201, 3, 1 };

	CHECK(id_cache_key(four, 4) != id_cache_key(three, 3));
	CHECK(id_cache_key(four, 3) != id_cache_key(three, 3));
	CHECK(id_cache_key(four, 4) != id_cache_key(four, 3));
}

TEST(a_forked_child_finds_nothing_of_its_parents_and_clears_nothing)
{
	static struct id_cache cache;
	const uint64_t words[] = { 7 };
	struct id_cache_entry *at;
	uint32_t a = 0, b = 0;
	uint64_t key;

	fake_session(4, 4);
	key = id_cache_key(words, 1);
	id_cache_put(&cache, key, 3, 4);
	CHECK(id_cache_get(&cache, key, &a, &b) && a == 3 && b == 4);
	guest->epoch++;
	CHECK(id_cache_key(words, 1) != key);
	/* Another thread of the child may be writing there just now. */
	at = id_cache_entry(&cache, key);
	*at = (struct id_cache_entry){ .a = 5, .b = 6 };
	CHECK(!id_cache_get(&cache, id_cache_key(words, 1), &a, &b));
	CHECK(at->a == 5 && at->b == 6);
}

/* As a fork finds it when another thread is just writing: nobody ends that in the child. */
TEST(a_place_that_a_fork_found_half_written_is_written_by_the_child)
{
	static struct id_cache cache;
	struct id_cache_entry *at;
	uint32_t a = 0, b = 0;

	fake_session(4, 4);
	at = id_cache_entry(&cache, 7);
	at->key = ID_CACHE_BEING_WRITTEN;
	id_cache_put(&cache, 7, 3, 4);
	CHECK(!id_cache_get(&cache, 7, &a, &b)); /* in the parent */
	guest->epoch++;
	id_cache_put(&cache, 7, 3, 4);
	CHECK(id_cache_get(&cache, 7, &a, &b) && a == 3 && b == 4);
}

/* Takes all that is left of the arena's blocks, or gives it back. */
static void fill(struct stream *s, bool full)
{
	static uint8_t states[64];
	struct arena *a = guest->arena;
	struct attribute_row *row;

	for (uint32_t i = 0; i < a->n_small + a->n_large; i++) {
		if (full)
			states[i] = (uint8_t)a->block_state[i];
		a->block_state[i] = full && a->block_state[i] == BLOCK_FREE ? BLOCK_FULL : states[i];
	}
	/* The least that there is: nothing fits behind it. */
	while (full && (row = stream_reserve(s, ROW_attribute, stream_tail(sizeof *row, 0)))) {
		*row = (struct attribute_row){ .bytes = 0 };
		stream_publish(s, row);
	}
}

TEST(a_text_for_which_there_was_no_room_is_tried_again)
{
	const struct torch_inputs in = { .words = { 1 | 2 << 8 | 6ull << 32, 77, 78 }, .n = 3 };
	struct torch_value number = { 4711, TORCH_INT, 0 };
	struct torch_values v = { .n = 0 };
	uint32_t dims, types;
	struct stream *s;

	torch_values_number(&v, &number, 10);
	fake_session(8, 8);
	s = stream_enter();
	fill(s, true);
	torch_inputs_intern(s, &in, &dims, &types);
	CHECK(!dims && !types);
	CHECK_EQ(torch_values_intern(s, &v, "aten::select"), 0);
	fill(s, false);
	torch_inputs_intern(s, &in, &dims, &types);
	CHECK(dims && types);
	CHECK(torch_values_intern(s, &v, "aten::select") != 0);
	stream_leave(s);
}

/* What changes with every call takes no room for ever; a convolution is counted by it. */
TEST(beyond_a_number_of_texts_only_convolutions_have_their_inputs)
{
	struct torch_values v = { .n = 0 };
	struct torch_value number = { 0, TORCH_INT, 0 };
	struct stream *s;

	fake_session(4, 4);
	s = stream_enter();
	for (number.payload = 0; number.payload < 40000; number.payload++) {
		v.n = 0;
		torch_values_number(&v, &number, 10);
		if (!torch_values_intern(s, &v, "aten::select"))
			break;
	}
	CHECK_EQ(number.payload, 32768);
	CHECK_EQ(guest->arena->health[HEALTH_torch_values].count, 1);
	CHECK(torch_values_intern(s, &v, "aten::convolution") != 0);
	stream_leave(s);
}

/* ---- steps ---- */

TEST(names_of_pytorch_say_what_they_are_to_steps)
{
	static const char fetch[] = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__";

	CHECK_EQ(torch_steps_event_of(TORCH_USER, fetch, true), TORCHSTEPS_BATCH);
	CHECK_EQ(torch_steps_event_of(TORCH_USER, fetch, false), TORCHSTEPS_FETCHED);
	CHECK_EQ(torch_steps_event_of(TORCH_USER, "Optimizer.step#SGD.step", true), TORCHSTEPS_OPTIMIZER);
	CHECK_EQ(torch_steps_event_of(TORCH_USER, "Optimizer.step#SGD.step", false), TORCHSTEPS_STEPPED);
	CHECK_EQ(torch_steps_event_of(TORCH_USER, "Optimizer.zero_grad#SGD.zero_grad", true), TORCHSTEPS_OPTIMIZER);
	CHECK_EQ(torch_steps_event_of(TORCH_USER, "Optimizer.zero_grad#SGD.zero_grad", false), TORCHSTEPS_NOTHING);
	CHECK_EQ(torch_steps_event_of(TORCH_BACKWARD, "AddBackward0", true), TORCHSTEPS_NODE);
	CHECK_EQ(torch_steps_event_of(TORCH_FUNCTION, "Optimizer.step#SGD.step", false), TORCHSTEPS_NOTHING);
	CHECK_EQ(torch_steps_event_of(TORCH_USER, "forward", true), TORCHSTEPS_NOTHING);
}

/* As PyTorch does, through the second entry of the context's table. */
static void delete(struct torch_context *c)
{
	void (*const *table)(void *) = c->vtable;

	table[1](c);
}

TEST(a_context_that_ended_elsewhere_is_free_when_it_is_tidied_and_deleted_in_any_order)
{
	struct torch_context *c, *other;
	struct stream *s;

	fake_session(8, 8);
	CHECK(torch_contexts_ready());
	for (int deleted_first = 0; deleted_first < 2; deleted_first++) {
		s = stream_enter();
		c = torch_context_take(s);
		CHECK(torch_context_leave(c));
		if (deleted_first)
			delete(c);
		else
			torch_context_tidy(s);
		other = torch_context_take(s);
		CHECK(other != c);
		if (deleted_first)
			torch_context_tidy(s);
		else
			delete(c);
		CHECK(torch_context_take(s) == c);
		delete(c);
		delete(other);
		stream_leave(s);
	}
}
