#include "json_writer.h"

#include "tracerd/json.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

const char json_digit_pairs[200] = "00010203040506070809101112131415161718192021222324"
                                   "25262728293031323334353637383940414243444546474849"
                                   "50515253545556575859606162636465666768697071727374"
                                   "75767778798081828384858687888990919293949596979899";

static const char hex_digits[16] = "0123456789abcdef";

static char *put_8_digits(char *out, uint32_t value)
{
    return json_put_4_digits(json_put_4_digits(out, value / 10000), value % 10000);
}

/* From 10^8 on; what stands before the last eight digits is of any size again. */
char *json_put_large(char *out, uint64_t value)
{
    out = json_put_u64(out, value / 100000000);
    return put_8_digits(out, (uint32_t)(value % 100000000));
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

char *json_put_hex_byte(char *out, uint8_t value)
{
    out[0] = hex_digits[value >> 4];
    out[1] = hex_digits[value & 15];
    return out + 2;
}

/* Printable ASCII without " and \ stands for itself. */
static bool is_plain(uint8_t byte)
{
    return byte >= 0x20 && byte < 0x7f && byte != '"' && byte != '\\';
}

#ifdef __SSE2__
/* Bit i is set where byte i is not plain. */
static inline unsigned special_mask(__m128i chunk)
{
    /* Signed comparison: bytes from 0x80 on are negative, hence below a blank too. */
    __m128i low = _mm_cmplt_epi8(chunk, _mm_set1_epi8(0x20));
    __m128i quote = _mm_cmpeq_epi8(chunk, _mm_set1_epi8('"'));
    __m128i slash = _mm_cmpeq_epi8(chunk, _mm_set1_epi8('\\'));
    __m128i delete = _mm_cmpeq_epi8(chunk, _mm_set1_epi8(0x7f));

    return (unsigned)_mm_movemask_epi8(
        _mm_or_si128(_mm_or_si128(low, quote), _mm_or_si128(slash, delete)));
}
#endif

/* Whether all eight bytes are plain, for machines without vectors and for the ends of texts. */
static inline bool all_plain(uint64_t word)
{
    const uint64_t ones = 0x0101010101010101u, highs = 0x8080808080808080u;
    uint64_t quote = word ^ ones * '"', slash = word ^ ones * '\\', delete = word ^ ones * 0x7f;
    uint64_t below = word - ones * 0x20;

    quote = (quote - ones) & ~quote;
    slash = (slash - ones) & ~slash;
    delete = (delete - ones) & ~delete;
    return ((word | below | quote | slash | delete) & highs) == 0;
}

/*
 * Copies what stands for itself; returns how many bytes. May write beyond that number, never beyond
 * `size`.
 */
static inline size_t copy_plain(char *out, const uint8_t *bytes, size_t size)
{
    size_t run = 0;

#ifdef __SSE2__
    for (; run + 16 <= size; run += 16) {
        __m128i chunk = _mm_loadu_si128((const __m128i *)(bytes + run));
        unsigned mask = special_mask(chunk);

        _mm_storeu_si128((__m128i *)(out + run), chunk);
        if (mask)
            return run + (size_t)__builtin_ctz(mask);
    }
#endif
    for (; run + 8 <= size; run += 8) {
        uint64_t word;

        memcpy(&word, bytes + run, sizeof(word));
        if (!all_plain(word))
            break;
        memcpy(out + run, &word, sizeof(word));
    }
    for (; run < size && is_plain(bytes[run]); run++)
        out[run] = (char)bytes[run];
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

static char *put_escape(char *out, uint8_t high, uint8_t low)
{
    out = JSON_PUT(out, "\\u");
    return json_put_hex_byte(json_put_hex_byte(out, high), low);
}

static char *put_ascii(char *out, uint8_t byte)
{
    static const char short_forms[128] = { ['\b'] = 'b', ['\t'] = 't', ['\n'] = 'n', ['\f'] = 'f',
                                           ['\r'] = 'r', ['"'] = '"',  ['\\'] = '\\' };

    if (!short_forms[byte])
        return put_escape(out, 0, byte);
    *out++ = '\\';
    *out++ = short_forms[byte];
    return out;
}

/* One character that does not stand for itself, or is not ASCII; *size becomes its length. */
static __attribute__((noinline)) char *put_special(char *out, const uint8_t *bytes, size_t *size)
{
    size_t length;

    if (*bytes < 0x80) {
        *size = 1;
        return put_ascii(out, *bytes);
    }
    length = utf8_length(bytes, *size);
    if (length == 0 || is_escape_range(bytes, length)) {
        *size = 1;
        return put_escape(out, 0xf7, *bytes);
    }
    *size = length;
    return json_put(out, (const char *)bytes, length);
}

static inline char *put_quoted(char *out, const uint8_t *bytes, size_t size, bool stop_at_nul)
{
    *out++ = '"';
    while (size > 0) {
        size_t run = copy_plain(out, bytes, size);

        out += run;
        bytes += run;
        size -= run;
        if (size == 0 || (stop_at_nul && *bytes == '\0'))
            break;
        run = size;
        out = put_special(out, bytes, &run);
        bytes += run;
        size -= run;
    }
    *out++ = '"';
    return out;
}

char *json_put_string(char *out, const char *bytes, size_t size)
{
    return put_quoted(out, (const uint8_t *)bytes, size, false);
}

char *json_put_text(char *out, const char *bytes, size_t size)
{
    return put_quoted(out, (const uint8_t *)bytes, size, true);
}

size_t trd_json_string(const char *bytes, size_t size, char *out, size_t capacity)
{
    if (JSON_STRING_MAX(size) > capacity)
        return JSON_STRING_MAX(size);
    return (size_t)(json_put_string(out, bytes, size) - out);
}

size_t trd_json_restore(char *text, size_t size)
{
    const uint8_t *bytes = (const uint8_t *)text;
    size_t out = 0;

    for (size_t at = 0; at < size;) {
        if (size - at >= 3 && is_escape_range(bytes + at, 3) && continues(bytes, size, at + 2)) {
            text[out++] = (char)((bytes[at + 1] & 3) << 6 | (bytes[at + 2] & 0x3f));
            at += 3;
        } else {
            text[out++] = text[at++];
        }
    }
    return out;
}
