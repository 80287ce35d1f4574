#include "inject/nvtx/nvtx_hooks.h"

#include <string.h>

#include "test/unit/inject/fake.h"
#include "test/unit/test.h"

static nvtx_function hook(uint32_t module, uint32_t id)
{
	for (size_t i = 0; nvtx_resource_hooks[i].fn; i++)
		if (nvtx_resource_hooks[i].module == module && nvtx_resource_hooks[i].id == id)
			return nvtx_resource_hooks[i].fn;
	return NULL;
}

static const struct resource_row *last(void)
{
	return fake_row(ROW_resource, fake_count(ROW_resource) - 1);
}

TEST(a_named_resource_is_a_row_until_it_is_given_up)
{
	const void *(*create)(const void *, const struct nvtx_resource *) =
		(const void *(*)(const void *, const struct nvtx_resource *))hook(NVTX_MODULE_CORE2,
			NVTX_DomainResourceCreate);
	void (*destroy)(const void *) = (void (*)(const void *))hook(NVTX_MODULE_CORE2, NVTX_DomainResourceDestroy);
	struct nvtx_resource r = { .version = 3, .size = sizeof r, .type = 1 << 16 | 1, .identifier = 0x1234,
				   .message_type = NVTX_TEXT, .message.text = "buffer" };
	const void *a, *b;

	fake_session(4, 4);
	a = create(NULL, &r);
	CHECK_EQ(last()->handle, 0x1234);
	CHECK_EQ(last()->flags, 0);
	CHECK_STR(fake_string(last()->name), "buffer");
	b = create(NULL, &r);
	CHECK(a && b && a != b);
	destroy(a);
	CHECK_EQ(last()->flags, RESOURCE_GONE);
	CHECK_EQ(last()->number, (uintptr_t)a);
	destroy(NULL);
	r.size = 4;
	CHECK(create(NULL, &r) == NULL);
	CHECK_EQ(fake_count(ROW_resource), 3);
}

TEST(devices_are_known_by_their_number_and_streams_only_where_cupti_is_up)
{
	void (*device)(int, const char *) = (void (*)(int, const char *))hook(NVTX_MODULE_CUDART,
	      NVTX_NameCudaDeviceA);
	void (*stream)(void *, const wchar_t *) = (void (*)(void *, const wchar_t *))hook(NVTX_MODULE_CUDA,
	      NVTX_NameCuStreamW);

	fake_session(4, 4);
	device(3, "third");
	CHECK_EQ(last()->flags, RESOURCE_KNOWN);
	CHECK_EQ(last()->object, 3);
	stream((void *)0x99, L"kopie");
	CHECK_EQ(last()->flags, 0);
	CHECK_EQ(last()->handle, 0x99);
	CHECK_EQ(last()->type, 4 << 16 | 3);
	CHECK_STR(fake_string(last()->name), "kopie");
}

TEST(a_thread_named_as_a_resource_has_that_name)
{
	const void *(*create)(const void *, const struct nvtx_resource *) =
		(const void *(*)(const void *, const struct nvtx_resource *))hook(NVTX_MODULE_CORE2,
			NVTX_DomainResourceCreate);
	struct nvtx_resource r = { .size = sizeof r, .type = 1 << 16 | 3, .message_type = NVTX_TEXT, .message.text = "loader" };
	struct stream *s;

	fake_session(4, 4);
	s = stream_enter();
	r.identifier = s->slot->tid;
	stream_leave(s);
	create(NULL, &r);

	const struct thread_row *row = fake_row(ROW_thread, fake_count(ROW_thread) - 1);

	CHECK_EQ(row->bytes, 6);
	CHECK(memcmp(row + 1, "loader", 6) == 0);
}
