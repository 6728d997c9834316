#include "json_writer.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

const char json_digit_pairs[200] = "00010203040506070809101112131415161718192021222324"
                                   "25262728293031323334353637383940414243444546474849"
                                   "50515253545556575859606162636465666768697071727374"
                                   "75767778798081828384858687888990919293949596979899";

static const char hex_digits[16] = "0123456789abcdef";

char *json_put_u64(char *out, uint64_t value)
{
    char digits[20];
    char *at = digits + sizeof(digits);

    while (value >= 100) {
        at -= 2;
        memcpy(at, json_digit_pairs + 2 * (value % 100), 2);
        value /= 100;
    }
    if (value >= 10) {
        at -= 2;
        memcpy(at, json_digit_pairs + 2 * value, 2);
    } else {
        *--at = (char)('0' + value);
    }
    return json_put(out, at, (size_t)(digits + sizeof(digits) - at));
}

char *json_put_i64(char *out, int64_t value)
{
    if (value >= 0)
        return json_put_u64(out, (uint64_t)value);
    *out++ = '-';
    return json_put_u64(out, 0 - (uint64_t)value);
}

char *json_put_hex(char *out, uint64_t value)
{
    int digits = value ? (67 - __builtin_clzll(value)) / 4 : 1;

    out = JSON_PUT(out, "\"0x");
    for (int i = digits; i-- > 0;)
        *out++ = hex_digits[value >> (4 * i) & 15];
    *out++ = '"';
    return out;
}

/* Bytes at the start of which nothing needs escaping or checking: printable ASCII without " and \.
 */
static size_t plain_run(const uint8_t *bytes, size_t size)
{
    size_t run = 0;

#ifdef __SSE2__
    for (; run + 16 <= size; run += 16) {
        __m128i chunk = _mm_loadu_si128((const __m128i *)(bytes + run));
        /* Signed comparison: bytes from 0x80 on are negative, hence below a blank too. */
        __m128i low = _mm_cmplt_epi8(chunk, _mm_set1_epi8(0x20));
        __m128i quote = _mm_cmpeq_epi8(chunk, _mm_set1_epi8('"'));
        __m128i slash = _mm_cmpeq_epi8(chunk, _mm_set1_epi8('\\'));
        __m128i delete = _mm_cmpeq_epi8(chunk, _mm_set1_epi8(0x7f));
        int mask =
            _mm_movemask_epi8(_mm_or_si128(_mm_or_si128(low, quote), _mm_or_si128(slash, delete)));

        if (mask)
            return run + (size_t)__builtin_ctz((unsigned)mask);
    }
#endif
    while (run < size && bytes[run] >= 0x20 && bytes[run] < 0x7f && bytes[run] != '"' &&
           bytes[run] != '\\')
        run++;
    return run;
}

static bool continues(const uint8_t *bytes, size_t size, size_t at)
{
    return at < size && (bytes[at] & 0xc0) == 0x80;
}

/* Length of the well-formed UTF-8 sequence at the start (Unicode table 3-7), 0 if there is none. */
static size_t utf8_length(const uint8_t *bytes, size_t size)
{
    uint8_t first = bytes[0];

    if (first >= 0xc2 && first <= 0xdf)
        return continues(bytes, size, 1) ? 2 : 0;
    if (first >= 0xe0 && first <= 0xef) {
        if (!continues(bytes, size, 1) || !continues(bytes, size, 2) ||
            (first == 0xe0 && bytes[1] < 0xa0) || (first == 0xed && bytes[1] > 0x9f))
            return 0;
        return 3;
    }
    if (first >= 0xf0 && first <= 0xf4) {
        if (!continues(bytes, size, 1) || !continues(bytes, size, 2) ||
            !continues(bytes, size, 3) || (first == 0xf0 && bytes[1] < 0x90) ||
            (first == 0xf4 && bytes[1] > 0x8f))
            return 0;
        return 4;
    }
    return 0;
}

/* U+F700 … U+F7FF in UTF-8: EF 9C 80 … EF 9F BF. */
static bool is_escape_range(const uint8_t *bytes, size_t length)
{
    return length == 3 && bytes[0] == 0xef && bytes[1] >= 0x9c && bytes[1] <= 0x9f;
}

static char *put_escape(char *out, unsigned high, uint8_t byte)
{
    out = JSON_PUT(out, "\\u");
    *out++ = hex_digits[high >> 4];
    *out++ = hex_digits[high & 15];
    *out++ = hex_digits[byte >> 4];
    *out++ = hex_digits[byte & 15];
    return out;
}

static char *put_control(char *out, uint8_t byte)
{
    static const char short_forms[32] = {
        ['\b'] = 'b', ['\t'] = 't', ['\n'] = 'n', ['\f'] = 'f', ['\r'] = 'r'
    };
    char letter = byte < 32 ? short_forms[byte] : byte == 0x7f ? 0 : (char)byte;

    if (!letter)
        return put_escape(out, 0, byte);
    *out++ = '\\';
    *out++ = letter;
    return out;
}

char *json_put_string(char *out, const char *text, size_t size)
{
    const uint8_t *bytes = (const uint8_t *)text;

    *out++ = '"';
    while (size > 0) {
        size_t run = plain_run(bytes, size);

        out = json_put(out, (const char *)bytes, run);
        bytes += run;
        size -= run;
        if (size == 0)
            break;
        if (*bytes < 0x80) {
            out = put_control(out, *bytes);
            run = 1;
        } else {
            run = utf8_length(bytes, size);
            if (run == 0 || is_escape_range(bytes, run)) {
                out = put_escape(out, 0xf7, *bytes);
                run = 1;
            } else {
                out = json_put(out, (const char *)bytes, run);
            }
        }
        bytes += run;
        size -= run;
    }
    *out++ = '"';
    return out;
}
