#include "json_args.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A part of the text; at == end: nothing. */
struct part {
    const char *at, *end;
};

static const struct part nothing;

/* Behind the string that begins here. */
static const char *skip_string(const char *at, const char *end)
{
    for (at++; at < end; at++) {
        if (*at == '\\')
            at++;
        else if (*at == '"')
            return at + 1;
    }
    return end;
}

/* Behind the value that begins here. */
static const char *skip_value(const char *at, const char *end)
{
    unsigned depth = 0;

    while (at < end) {
        if (*at == '"') {
            at = skip_string(at, end);
        } else if (*at == '{' || *at == '[') {
            depth++;
            at++;
        } else if (depth > 0 && (*at == '}' || *at == ']')) {
            depth--;
            at++;
        } else if (depth > 0) {
            at++;
            continue;
        } else {
            while (at < end && *at != ',' && *at != '}' && *at != ']' && *at != ' ')
                at++;
        }
        if (depth == 0)
            return at;
    }
    return end;
}

static const char *skip_blanks(const char *at, const char *end)
{
    while (at < end && (*at == ' ' || *at == '\t' || *at == ','))
        at++;
    return at;
}

static struct part member(struct part object, const char *key, size_t key_size)
{
    const char *at = object.at, *end = object.end;

    if (at == end || *at++ != '{')
        return nothing;
    while ((at = skip_blanks(at, end)) < end && *at == '"') {
        const char *name = at + 1, *behind = skip_string(at, end), *value;
        bool same = (size_t)(behind - name) == key_size + 1 && memcmp(name, key, key_size) == 0;

        value = skip_blanks(behind, end);
        if (value == end || *value != ':')
            return nothing;
        value = skip_blanks(value + 1, end);
        at = skip_value(value, end);
        if (same)
            return (struct part){ value, at };
    }
    return nothing;
}

static struct part element(struct part array, uint64_t index)
{
    const char *at = array.at, *end = array.end;

    if (at == end || *at++ != '[')
        return nothing;
    for (; (at = skip_blanks(at, end)) < end && *at != ']'; index--) {
        const char *value = at;

        at = skip_value(value, end);
        if (index == 0)
            return (struct part){ value, at };
    }
    return nothing;
}

static struct part find(const struct trd_record *record, const struct json_args_name *name)
{
    struct part value;

    if (!record->args_json)
        return nothing;
    value = member((struct part){ record->args_json, record->args_json + record->args_json_size },
                   name->text, name->size);
    return name->has_index ? element(value, name->index) : value;
}

/* The value itself, where it stands with its names. */
static struct part plain(struct part value)
{
    static const char *const keys[] = { "raw", "id", "addr" };

    if (value.at == value.end || *value.at != '{')
        return value;
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        struct part found = member(value, keys[i], strlen(keys[i]));

        if (found.at != found.end)
            return found;
    }
    return nothing;
}

static bool is_word(struct part value, const char *word)
{
    return (size_t)(value.end - value.at) == strlen(word) &&
           memcmp(value.at, word, strlen(word)) == 0;
}

bool json_args_number(const struct trd_record *record, const struct json_args_name *name,
                      uint64_t *out)
{
    struct part value = plain(find(record, name));
    char digits[32], *behind;
    size_t size;

    if (is_word(value, "true") || is_word(value, "false")) {
        *out = *value.at == 't';
        return true;
    }
    if (value.end - value.at > 2 && *value.at == '"') {
        value.at++;
        value.end--;
    }
    size = (size_t)(value.end - value.at);
    if (size == 0 || size >= sizeof(digits))
        return false;
    memcpy(digits, value.at, size);
    digits[size] = '\0';
    errno = 0;
    *out = digits[0] == '-' ? (uint64_t)strtoll(digits, &behind, 10)
                            : strtoull(digits, &behind, strncmp(digits, "0x", 2) == 0 ? 16 : 10);
    return errno == 0 && *behind == '\0' && behind != digits;
}

static unsigned hex_digit(char letter)
{
    return (unsigned)(letter <= '9' ? letter - '0' : (letter | 0x20) - 'a' + 10) & 15;
}

static uint32_t unit(const char *at)
{
    return hex_digit(at[0]) << 12 | hex_digit(at[1]) << 8 | hex_digit(at[2]) << 4 |
           hex_digit(at[3]);
}

static size_t put_utf8(char *out, uint32_t code)
{
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    if (code < 0x800) {
        out[0] = (char)(0xc0 | code >> 6);
        out[1] = (char)(0x80 | (code & 0x3f));
        return 2;
    }
    if (code < 0x10000) {
        out[0] = (char)(0xe0 | code >> 12);
        out[1] = (char)(0x80 | (code >> 6 & 0x3f));
        out[2] = (char)(0x80 | (code & 0x3f));
        return 3;
    }
    out[0] = (char)(0xf0 | code >> 18);
    out[1] = (char)(0x80 | (code >> 12 & 0x3f));
    out[2] = (char)(0x80 | (code >> 6 & 0x3f));
    out[3] = (char)(0x80 | (code & 0x3f));
    return 4;
}

/* One escape, behind its backslash; moves *at over it. */
static size_t put_escape(const char **at, const char *end, char *out)
{
    static const char letters[] = "bfnrt", meant[] = "\b\f\n\r\t";
    const char *letter = *at < end ? memchr(letters, **at, sizeof(letters) - 1) : NULL;
    uint32_t code;

    if (*at == end)
        return 0;
    if (**at != 'u' || end - *at < 5) {
        *out = letter ? meant[letter - letters] : **at;
        ++*at;
        return 1;
    }
    code = unit(*at + 1);
    *at += 5;
    if ((code & 0xfc00) == 0xd800 && end - *at >= 6 && (*at)[0] == '\\' && (*at)[1] == 'u') {
        code = 0x10000 + ((code & 0x3ff) << 10 | (unit(*at + 2) & 0x3ff));
        *at += 6;
    }
    return put_utf8(out, code);
}

/* The string between its quotes, as the bytes it stands for. */
static size_t decode(struct part string, char *out, size_t capacity)
{
    size_t size = 0;

    while (string.at < string.end && size + 4 <= capacity) {
        if (*string.at != '\\') {
            out[size++] = *string.at++;
            continue;
        }
        string.at++;
        size += put_escape(&string.at, string.end, out + size);
    }
    return trd_json_restore(out, size);
}

/* A string; what a value or an id is called; the name of the only flag that is set. */
static struct part text_of(struct part value)
{
    struct part called;

    if (value.at == value.end || *value.at != '{')
        return value;
    called = member(value, "name", 4);
    if (called.at == called.end)
        called = member(value, "sym", 3);
    if (called.at != called.end)
        return called;
    value = member(value, "names", 5);
    return element(value, 1).at == NULL ? element(value, 0) : nothing;
}

bool json_args_text(const struct trd_record *record, const struct json_args_name *name,
                    char *buffer, size_t capacity, size_t *out_size)
{
    struct part text = text_of(find(record, name));

    if (text.end - text.at < 2 || *text.at != '"')
        return false;
    *out_size = decode((struct part){ text.at + 1, text.end - 1 }, buffer, capacity);
    return true;
}
