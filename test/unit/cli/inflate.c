#include "cli/import/bytes/inflate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/export/gzip.h"
#include "test/unit/test.h"

/* By zlib 1.2.13: 40 times {"ph": "X", "ts": i * i}, ; and a's with fixed codes. */
static const uint8_t dynamic[] = {
	0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x03, 0x75, 0x92, 0x3b, 0x0e, 0x02, 0x31, 0x10, 0x43, 0xaf, 0x12,
	0xa5, 0xde, 0x22, 0x33, 0x99, 0xc9, 0x87, 0x93, 0x70, 0x84, 0x2d, 0x91, 0xa0, 0x5b, 0x71, 0x77, 0x10, 0x2d, 0x7e, 0x5d,
	0x64, 0x59, 0x96, 0x5f, 0xc6, 0x57, 0x7d, 0x9c, 0xf5, 0x56, 0xea, 0xbd, 0x1e, 0xa5, 0xbe, 0x9e, 0xdf, 0x67, 0x7b, 0x1f,
	0xe5, 0xfa, 0x53, 0x4d, 0xaa, 0x21, 0xd5, 0xad, 0x13, 0x86, 0x94, 0x3d, 0xa5, 0xdc, 0xb5, 0x3b, 0x74, 0xf6, 0xd0, 0x45,
	0x96, 0x6e, 0x6d, 0x0d, 0x18, 0x1d, 0xfc, 0x11, 0x40, 0x04, 0xa4, 0x1b, 0x50, 0x81, 0xd5, 0x13, 0xfc, 0x4b, 0xe7, 0x77,
	0x0f, 0xf8, 0x33, 0xb8, 0x12, 0xf0, 0x46, 0x80, 0x7f, 0xe9, 0xfc, 0x74, 0xdd, 0x27, 0xa7, 0xee, 0x3f, 0x80, 0x77, 0x80,
	0x7f, 0x42, 0xfe, 0x84, 0x3e, 0x0b, 0xfa, 0x6f, 0xe0, 0xdd, 0x83, 0xf6, 0x00, 0x1f, 0x6a, 0x0d, 0x2e, 0x60, 0x06, 0x27,
	0x33, 0xba, 0xb1, 0x39, 0x8c, 0xc2, 0x3a, 0xad, 0x28, 0x68, 0x76, 0xf9, 0xdb, 0xe9, 0x07, 0x0d, 0x9a, 0xef, 0x17, 0xba,
	0x03, 0x00, 0x00,
};
static const uint8_t fixed[] = {
	0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x03, 0x4b, 0x4c, 0xc4, 0x03, 0x92, 0x74, 0x14, 0x40, 0x24, 0x00,
	0xae, 0x5f, 0xc2, 0xba, 0x24, 0x00, 0x00, 0x00,
};

static uint8_t room[1 << 20];
static size_t reported;

static int progress(void *arg, size_t done)
{
	(void)arg;
	reported = done;
	return 0;
}

static enum inflate_result inflate(const uint8_t *in, size_t n, size_t space, size_t *got)
{
	/* In memory of its own size, so that reading beyond it is seen. */
	uint8_t *copy = malloc(n + 1);
	struct inflate_out out = { room, room + space, 0, progress, NULL };
	enum inflate_result rc;

	memcpy(copy, in, n);
	reported = 0;
	rc = inflate_gzip(copy, n, &out);
	free(copy);
	*got = out.done;
	return rc;
}

TEST(codes_that_are_sent_and_codes_that_are_fixed_are_unpacked)
{
	char want[1000];
	size_t n = 0, got;

	for (int i = 0; i < 40; i++)
		n += (size_t)snprintf(want + n, sizeof want - n, "{\"ph\": \"X\", \"ts\": %d}, ", i * i);
	CHECK_EQ(inflate(dynamic, sizeof dynamic, sizeof room, &got), INFLATE_OK);
	CHECK_EQ(got, n);
	CHECK_EQ(reported, n);
	CHECK(memcmp(room, want, n) == 0);
	CHECK_EQ(inflate(fixed, sizeof fixed, sizeof room, &got), INFLATE_OK);
	CHECK_EQ(got, 36);
	CHECK(memcmp(room, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaab, aaab", 36) == 0);
}

TEST(what_is_packed_and_several_members_are_one_file)
{
	uint8_t in[sizeof dynamic + sizeof fixed + 70100 + 200], *data = malloc(70000);
	char *packed;
	size_t size, n = 0, got;
	FILE *file = open_memstream(&packed, &size);

	for (int i = 0; i < 70000; i++)
		data[i] = (uint8_t)((unsigned)i * (unsigned)i >> 3);
	gzip_write(file, data, 70000);
	fclose(file);
	memcpy(in, fixed, sizeof fixed);
	n += sizeof fixed;
	memcpy(in + n, packed, size);
	n += size;
	memcpy(in + n, dynamic, sizeof dynamic);
	n += sizeof dynamic;
	memset(in + n, 0, 100);         /* tapes and disks end in zeros */
	CHECK_EQ(inflate(in, n + 100, sizeof room, &got), INFLATE_OK);
	CHECK_EQ(got, 36 + 70000 + 954);
	CHECK(memcmp(room + 36, data, 70000) == 0);
	free(data);
	free(packed);
}

TEST(whatever_is_missing_or_wrong_is_noticed)
{
	uint8_t bad[sizeof dynamic];
	size_t got, noticed = 0;

	for (size_t n = 0; n < sizeof dynamic; n++)
		CHECK_EQ(inflate(dynamic, n, sizeof room, &got), INFLATE_CUT);
	for (size_t i = 10; i < sizeof dynamic - 4; i++) {
		memcpy(bad, dynamic, sizeof bad);
		bad[i] ^= 0x10;
		noticed += inflate(bad, sizeof bad, sizeof room, &got) != INFLATE_OK;
	}
	CHECK_EQ(noticed, sizeof dynamic - 14);
	CHECK_EQ(inflate((const uint8_t *)"hello, this is no gzip file", 27, sizeof room, &got), INFLATE_BAD);
	CHECK_EQ(inflate(dynamic, sizeof dynamic, 500, &got), INFLATE_FULL);
	CHECK_EQ(inflate(dynamic, sizeof dynamic, 10, &got), INFLATE_FULL);
}
