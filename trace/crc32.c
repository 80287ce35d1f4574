/*
 * CRC-32 as in zlib, gzip and PNG: the remainder of the bytes, read as a polynomial over bits, divided by POLYNOMIAL.  Computed 8 bytes
 * a step with eight tables.  With carry-less multiplication, 64 bytes a step: four 16-byte remainders are each multiplied by x^512
 * modulo the polynomial (shifted by 64 bytes) and added to the next 64 bytes.
 */
#include "trace/file.h"

#include <pthread.h>

#include "trace/processor.h"

#define POLYNOMIAL 0xedb88320u          /* x^31 is bit 0, x^0 is bit 31; x^32 is left out */

static uint32_t table[8][256];          /* table[k][b]: byte b followed by k zero bytes */
static bool multiplies;
static pthread_once_t made = PTHREAD_ONCE_INIT;

static uint32_t times_x(uint32_t p)
{
	return p & 1 ? p >> 1 ^ POLYNOMIAL : p >> 1;
}

static uint32_t by_tables(uint32_t crc, const uint8_t *p, size_t n)
{
	for (; n >= 8; n -= 8, p += 8) {
		uint64_t v;

		memcpy(&v, p, 8);
		v ^= crc;
		crc = table[7][v & 0xff] ^ table[6][v >> 8 & 0xff] ^ table[5][v >> 16 & 0xff] ^
		      table[4][v >> 24 & 0xff] ^ table[3][v >> 32 & 0xff] ^ table[2][v >> 40 & 0xff] ^
		      table[1][v >> 48 & 0xff] ^ table[0][v >> 56];
	}
	for (; n; n--, p++)
		crc = crc >> 8 ^ table[0][(crc ^ *p) & 0xff];
	return crc;
}

#ifdef __x86_64__
#include <wmmintrin.h>

/*
 * Factors that shift the two halves of 16 bytes by 64 and by 16 bytes.  The product of two bit-reversed 64-bit numbers is one bit short,
 * hence the shift in the code; a half is 32 bits away from the position of its remainder, hence + 32 and - 32.
 */
static uint64_t by_64[2], by_16[2];

static uint64_t power_of_x(unsigned n)
{
	uint32_t p = 0x80000000;        /* 1 */

	while (n--)
		p = times_x(p);
	return (uint64_t)p << 1;
}

static void make_factors(void)
{
	by_64[0] = power_of_x(512 + 32);
	by_64[1] = power_of_x(512 - 32);
	by_16[0] = power_of_x(128 + 32);
	by_16[1] = power_of_x(128 - 32);
	multiplies = processor_multiplies_polynomials();
}

__attribute__((target("pclmul"))) static inline __m128i moved(__m128i block, __m128i factors)
{
	return _mm_xor_si128(_mm_clmulepi64_si128(block, factors, 0x00), _mm_clmulepi64_si128(block, factors, 0x11));
}

/* n is at least 64. */
__attribute__((target("pclmul"))) static uint32_t by_multiplication(uint32_t crc, const uint8_t *p, size_t n)
{
	const __m128i *in = (const __m128i *)p;
	__m128i far = _mm_loadu_si128((const __m128i *)by_64), near = _mm_loadu_si128((const __m128i *)by_16), b[4];
	uint8_t rest[16];

#pragma GCC unroll 4                    /* without it the four blocks stay in memory: a third of the speed */
	for (int i = 0; i < 4; i++)
		b[i] = _mm_loadu_si128(in++);
	b[0] = _mm_xor_si128(b[0], _mm_cvtsi32_si128((int)crc));
	for (n -= 64; n >= 64; n -= 64) {
#pragma GCC unroll 4
		for (int i = 0; i < 4; i++)
			b[i] = _mm_xor_si128(moved(b[i], far), _mm_loadu_si128(in++));
	}
#pragma GCC unroll 4
	for (int i = 1; i < 4; i++)
		b[0] = _mm_xor_si128(moved(b[0], near), b[i]);
	_mm_storeu_si128((__m128i *)rest, b[0]);
	return by_tables(by_tables(0, rest, sizeof rest), (const uint8_t *)in, n);
}
#else
static void make_factors(void)
{
}

static uint32_t by_multiplication(uint32_t crc, const uint8_t *p, size_t n)
{
	return by_tables(crc, p, n);
}
#endif

static void make_tables(void)
{
	for (uint32_t b = 0; b < 256; b++) {
		uint32_t c = b;

		for (int bit = 0; bit < 8; bit++)
			c = times_x(c);
		table[0][b] = c;
	}
	for (int k = 1; k < 8; k++)
		for (uint32_t b = 0; b < 256; b++)
			table[k][b] = table[k - 1][b] >> 8 ^ table[0][table[k - 1][b] & 0xff];
	make_factors();
}

uint32_t crc32_of(uint32_t crc, const void *data, size_t n)
{
	pthread_once(&made, make_tables);
	crc = multiplies && n >= 64 ? by_multiplication(~crc, data, n) : by_tables(~crc, data, n);
	return ~crc;
}
