#include "inject/nvtx/nvtx_chain_maps.h"

#include "test/unit/test.h"
#include "trace/payload.h"

TEST(handles_are_found_by_ours_and_unknown_ones_are_none)
{
	static struct chain_map m;

	chain_map_set(&m, 1, 0xabc);
	chain_map_set(&m, 500000, 0xdef);
	CHECK_EQ(chain_map_get(&m, 1), 0xabc);
	CHECK_EQ(chain_map_get(&m, 500000), 0xdef);
	CHECK_EQ(chain_map_get(&m, 2), 0);
	CHECK_EQ(chain_map_get(&m, ~0ull), 0);
	chain_map_set(&m, ~0ull, 1);
	CHECK(chain_domain(NULL) == NULL);
}

TEST(a_range_has_one_id_for_both_and_ends_once)
{
	uint64_t a = chain_range_put(10, 20), b = chain_range_put(0, 21), ours, theirs;

	CHECK(a && b && a != b);
	CHECK(chain_range_take(a, &ours, &theirs) && ours == 10 && theirs == 20);
	CHECK(!chain_range_take(a, &ours, &theirs));
	CHECK(!chain_range_take(0, &ours, &theirs));
	CHECK(!chain_range_take(12345, &ours, &theirs));
	CHECK(chain_range_take(b, &ours, &theirs) && ours == 0 && theirs == 21);
}

TEST(ranges_beyond_the_room_get_no_id_and_places_are_used_again)
{
	static uint64_t ids[70000];
	uint64_t ours, theirs;
	size_t n = 0;

	while (n < 70000 && (ids[n] = chain_range_put(n, n)))
		n++;
	CHECK_EQ(n, 65536);
	for (size_t i = 0; i < n; i++)
		CHECK(chain_range_take(ids[i], &ours, &theirs) && ours == i);
	CHECK(chain_range_put(1, 1) != 0);
}

TEST(attributes_are_copied_only_where_a_handle_is_in_them)
{
	struct chain_attributes room;
	const struct nvtx_attributes text = { .size = sizeof text, .message_type = NVTX_TEXT, .message.text = "x" };
	struct nvtx_attributes a = { .size = sizeof a, .message_type = NVTX_REGISTERED, .message.registered = (void *)9 };
	const struct nvtx_payload data = { PAYLOAD_DYNAMIC_ID + 3, 4, &room };

	CHECK(chain_attributes(&room, &text) == &text);
	CHECK(chain_attributes(&room, NULL) == NULL);
	chain_map_set(&chain_strings, 9, 0x77);
	chain_map_set(&chain_schemas, 3, 0x88);
	CHECK(chain_attributes(&room, &a)->message.registered == (void *)0x77);
	a = (struct nvtx_attributes){ .size = sizeof a, .payload_type = NVTX_PAYLOAD_EXTENDED, .reserved = 1,
				      .payload = (uint64_t)(uintptr_t)&data };
	CHECK_EQ(((const struct nvtx_payload *)(uintptr_t)chain_attributes(&room, &a)->payload)->schema, 0x88);
	CHECK_EQ(chain_schema((1 << 24) + 1), (1 << 24) + 1);
}
