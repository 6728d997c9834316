#include "json_check.h"

#include <stdint.h>
#include <string.h>

#define DEPTH_MAX 8

struct reader {
    const char *at, *end;
};

static bool take(struct reader *reader, char c)
{
    if (reader->at == reader->end || *reader->at != c)
        return false;
    reader->at++;
    return true;
}

static bool take_word(struct reader *reader, const char *word)
{
    size_t size = strlen(word);

    if ((size_t)(reader->end - reader->at) < size || memcmp(reader->at, word, size) != 0)
        return false;
    reader->at += size;
    return true;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool take_digits(struct reader *reader)
{
    const char *start = reader->at;

    while (reader->at < reader->end && is_digit(*reader->at))
        reader->at++;
    return reader->at > start;
}

static bool take_number(struct reader *reader)
{
    (void)take(reader, '-');
    if (!take(reader, '0') && !take_digits(reader))
        return false;
    if (take(reader, '.') && !take_digits(reader))
        return false;
    if (take(reader, 'e') || take(reader, 'E')) {
        if (!take(reader, '-'))
            (void)take(reader, '+');
        return take_digits(reader);
    }
    return true;
}

/* Behind the backslash. A lone surrogate is refused: not every reader takes it. */
static bool take_escape(struct reader *reader)
{
    uint32_t code = 0;

    if (reader->at == reader->end)
        return false;
    if (*reader->at++ != 'u')
        return memchr("\"\\/bfnrt", reader->at[-1], 8) != NULL;
    for (int i = 0; i < 4; i++) {
        char c = reader->at < reader->end ? *reader->at++ : 0;

        if (!is_digit(c) && (c < 'a' || c > 'f'))
            return false;
        code = code << 4 | (uint32_t)(is_digit(c) ? c - '0' : c - 'a' + 10);
    }
    return code < 0xd800 || code >= 0xe000;
}

/* One sequence of more than a byte: shortest form, no surrogate, nothing above U+10FFFF. */
static bool take_sequence(struct reader *reader)
{
    uint32_t first = (uint8_t)*reader->at++;
    uint32_t more = first >= 0xf0 ? 3 : first >= 0xe0 ? 2 : 1;
    uint32_t code = first & (0x3f >> more);
    static const uint32_t least[] = { 0, 0x80, 0x800, 0x10000 };

    if (first < 0xc2 || first > 0xf4 || reader->end - reader->at < (ptrdiff_t)more)
        return false;
    for (uint32_t i = 0; i < more; i++, reader->at++) {
        if (((uint8_t)*reader->at & 0xc0) != 0x80)
            return false;
        code = code << 6 | ((uint8_t)*reader->at & 0x3f);
    }
    return code >= least[more] && code <= 0x10ffff && (code < 0xd800 || code >= 0xe000);
}

static bool take_string(struct reader *reader)
{
    if (!take(reader, '"'))
        return false;
    while (reader->at < reader->end && *reader->at != '"') {
        uint8_t c = (uint8_t)*reader->at;

        if (c < 0x20 || c == 0x7f)
            return false;
        if (c == '\\') {
            reader->at++;
            if (!take_escape(reader))
                return false;
        } else if (c < 0x80) {
            reader->at++;
        } else if (!take_sequence(reader)) {
            return false;
        }
    }
    return take(reader, '"');
}

static bool take_value(struct reader *reader, unsigned depth);

static bool take_list(struct reader *reader, bool is_object, unsigned depth)
{
    char close = is_object ? '}' : ']';

    reader->at++;
    if (take(reader, close))
        return true;
    do {
        if (is_object && !(take_string(reader) && take(reader, ':')))
            return false;
        if (!take_value(reader, depth))
            return false;
    } while (take(reader, ','));
    return take(reader, close);
}

static bool take_value(struct reader *reader, unsigned depth)
{
    if (reader->at == reader->end || depth == 0)
        return false;
    switch (*reader->at) {
    case '{':
    case '[':
        return take_list(reader, *reader->at == '{', depth - 1);
    case '"':
        return take_string(reader);
    case 't':
        return take_word(reader, "true");
    case 'f':
        return take_word(reader, "false");
    case 'n':
        return take_word(reader, "null");
    default:
        return take_number(reader);
    }
}

bool json_check(const char *bytes, size_t size)
{
    struct reader reader = { bytes, bytes + size };

    return take_value(&reader, DEPTH_MAX) && reader.at == reader.end;
}
