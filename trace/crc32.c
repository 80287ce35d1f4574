/* CRC-32 as in zlib, gzip and PNG: eight bytes a step through eight tables. */
#include "trace/file.h"

#include <pthread.h>

#define POLYNOMIAL 0xedb88320u          /* x^32 + x^26 + ... + 1, lowest power in the highest bit */

static uint32_t table[8][256];          /* table[k][b]: byte b followed by k zero bytes */
static pthread_once_t made = PTHREAD_ONCE_INIT;

static void make_table(void)
{
	for (uint32_t b = 0; b < 256; b++) {
		uint32_t c = b;

		for (int bit = 0; bit < 8; bit++)
			c = c & 1 ? c >> 1 ^ POLYNOMIAL : c >> 1;
		table[0][b] = c;
	}
	for (int k = 1; k < 8; k++)
		for (uint32_t b = 0; b < 256; b++)
			table[k][b] = table[k - 1][b] >> 8 ^ table[0][table[k - 1][b] & 0xff];
}

uint32_t crc32_of(uint32_t crc, const void *data, size_t n)
{
	const uint8_t *p = data;

	pthread_once(&made, make_table);
	crc = ~crc;
	for (; n >= 8; n -= 8, p += 8) {
		uint64_t v;

		memcpy(&v, p, 8);
		v ^= crc;
		crc = table[7][v & 0xff] ^ table[6][v >> 8 & 0xff] ^ table[5][v >> 16 & 0xff] ^ table[4][v >> 24 & 0xff] ^
		      table[3][v >> 32 & 0xff] ^ table[2][v >> 40 & 0xff] ^ table[1][v >> 48 & 0xff] ^ table[0][v >> 56];
	}
	for (; n; n--, p++)
		crc = crc >> 8 ^ table[0][(crc ^ *p) & 0xff];
	return ~crc;
}
