/* memcpy and memset, which the compiler calls by itself. By words where both sides allow it. */
#include "nic.h"

void *memcpy(void *to, const void *from, size_t bytes)
{
    char *t = to;
    const char *f = from;
    if ((((uint32_t)t | (uint32_t)f) & 3) == 0) {
        for (; bytes >= 16; bytes -= 16, t += 16, f += 16) {
            const uint32_t *s = (const uint32_t *)f;
            uint32_t a = s[0], b = s[1], c = s[2], d = s[3];
            ((uint32_t *)t)[0] = a;
            ((uint32_t *)t)[1] = b;
            ((uint32_t *)t)[2] = c;
            ((uint32_t *)t)[3] = d;
        }
        for (; bytes >= 4; bytes -= 4, t += 4, f += 4)
            *(uint32_t *)t = *(const uint32_t *)f;
    }
    for (; bytes; bytes--)
        *t++ = *f++;
    return to;
}

void *memset(void *to, int value, size_t bytes)
{
    char *t = to;
    uint32_t word = (uint8_t)value * 0x01010101u;
    for (; bytes && ((uint32_t)t & 3); bytes--)
        *t++ = (char)value;
    for (; bytes >= 16; bytes -= 16, t += 16) {
        ((uint32_t *)t)[0] = word;
        ((uint32_t *)t)[1] = word;
        ((uint32_t *)t)[2] = word;
        ((uint32_t *)t)[3] = word;
    }
    for (; bytes; bytes--)
        *t++ = (char)value;
    return to;
}
