#include "value.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "names.h"
#include "names_text.h"

bool value_append_raw(struct value_text *text, const char *bytes, size_t size)
{
    if (size > text->capacity - text->used)
        return false;
    memcpy(text->bytes + text->used, bytes, size);
    text->used += size;
    return true;
}

static __attribute__((format(printf, 2, 3))) bool append(struct value_text *text,
                                                         const char *format, ...)
{
    char bytes[64];
    va_list arguments;
    int size;

    va_start(arguments, format);
    size = vsnprintf(bytes, sizeof(bytes), format, arguments);
    va_end(arguments);
    return size >= 0 && (size_t)size < sizeof(bytes) && value_append_raw(text, bytes, (size_t)size);
}

/* Texts */

/* A lone surrogate, and what would be taken for a byte: by the rule of JSON.md the three bytes that
 * its number would take, each as U+F7NN. */
static bool append_by_bytes(struct value_text *text, uint32_t code)
{
    return append(text, "\\uf7%02x\\uf7%02x\\uf7%02x", 0xe0 | code >> 12, 0x80 | (code >> 6 & 0x3f),
                  0x80 | (code & 0x3f));
}

static bool append_code(struct value_text *text, uint32_t code)
{
    char bytes[4];
    size_t size;

    if (code == '"' || code == '\\')
        return append(text, "\\%c", (char)code);
    if (code < 0x20 || code == 0x7f)
        return append(text, "\\u%04x", code);
    if ((code >= 0xd800 && code < 0xe000) || code >> 8 == 0xf7)
        return append_by_bytes(text, code);
    size = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (size_t i = size - 1; i > 0; i--, code >>= 6)
        bytes[i] = (char)(0x80 | (code & 0x3f));
    bytes[0] = (char)(size == 1 ? code : (0xf00 >> size & 0xff) | code);
    return value_append_raw(text, bytes, size);
}

bool value_append_units(struct value_text *text, const uint16_t *units, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t code = units[i];

        if ((code & 0xfc00) == 0xd800 && i + 1 < count && (units[i + 1] & 0xfc00) == 0xdc00)
            code = 0x10000 + ((code & 0x3ff) << 10) + (units[++i] & 0x3ff);
        if (!append_code(text, code))
            return false;
    }
    return true;
}

/* `"` and what fits before another `"`. */
static bool append_quoted(struct value_text *text, const uint16_t *units, size_t count)
{
    if (text->capacity - text->used < 2)
        return false;
    (void)value_append_raw(text, "\"", 1);
    text->capacity--;
    if (!value_append_units(text, units, count))
        text->is_cut = true;
    text->capacity++;
    return value_append_raw(text, "\"", 1);
}

static bool append_string(struct value_text *text, const struct value_reader *reader,
                          uintptr_t string)
{
    uint32_t length;

    if (string == 0)
        return append(text, "null");
    if (!reader->has_string)
        return append(text, "{\"type\":\"System.String\"}");
    length = *(const uint32_t *)(string + reader->string.length);
    text->is_cut |= length > VALUE_STRING_UNITS_MAX;
    if (length > VALUE_STRING_UNITS_MAX)
        length = VALUE_STRING_UNITS_MAX;
    return append_quoted(text, (const uint16_t *)(string + reader->string.buffer), length);
}

/* Out of line, so that its buffer is on the stack for objects only. */
static __attribute__((noinline)) bool
append_object(struct value_text *text, const struct value_reader *reader, uintptr_t object)
{
    char name[NAMES_TEXT_MAX];
    size_t size;

    if (object == 0)
        return append(text, "null");
    size = names_type_of_object(reader->info, object, name);
    if (size == 0)
        return append(text, "{}");
    if (!append(text, "{\"type\":\""))
        return false;
    for (size_t i = 0; i < size; i++)
        if ((uint8_t)name[i] >= 0x80 ? !value_append_raw(text, &name[i], 1)
                                     : !append_code(text, (uint8_t)name[i]))
            return false;
    return append(text, "\"}");
}

/* Numbers */

static uint64_t load(const void *start, size_t size)
{
    uint64_t value = 0;

    memcpy(&value, start, size);
    return value;
}

/* Up to 32 bits a number, 64 bits a string. */
static bool append_integer(struct value_text *text, struct value_type type, const void *start)
{
    const char *quote = type.size > 4 ? "\"" : "";
    uint64_t value = load(start, type.size);
    unsigned unused = 64 - 8u * type.size;

    if (type.kind == VALUE_SIGNED)
        return append(text, "%s%lld%s", quote, (long long)((int64_t)(value << unused) >> unused),
                      quote);
    return append(text, "%s%llu%s", quote, (unsigned long long)value, quote);
}

/* The shortest that reads back as the same. The application may have chosen a decimal comma. */
static bool append_float(struct value_text *text, size_t size, const void *start)
{
    char digits[40];
    double value;
    float narrow = 0;
    int precision = size == 4 ? 6 : 15;

    if (size == 4) {
        memcpy(&narrow, start, sizeof(narrow));
        value = (double)narrow;
    } else {
        memcpy(&value, start, sizeof(value));
    }
    if (value != value)
        return append(text, "\"NaN\"");
    if (value - value != 0)
        return append(text, value > 0 ? "\"Infinity\"" : "\"-Infinity\"");
    do {
        (void)snprintf(digits, sizeof(digits), "%.*g", precision++, value);
    } while (precision <= 17 &&
             (size == 4 ? strtof(digits, NULL) != narrow : strtod(digits, NULL) != value));
    for (char *at = digits; *at; at++)
        if (*at == ',')
            *at = '.';
    return value_append_raw(text, digits, strlen(digits));
}

static bool append_bytes(struct value_text *text, const uint8_t *bytes, size_t size)
{
    size_t shown = size < VALUE_BYTES_MAX ? size : VALUE_BYTES_MAX;

    if (text->capacity - text->used < 2 * shown + 2)
        return false;
    text->is_cut |= shown < size;
    (void)append(text, "\"");
    for (size_t i = 0; i < shown; i++)
        (void)append(text, "%02x", bytes[i]);
    return append(text, "\"");
}

bool value_append(struct value_text *text, const struct value_reader *reader,
                  struct value_type type, const void *start, size_t length)
{
    if (!start || length == 0 || length < type.size) { /* the runtime does not say */
        text->is_cut = true;
        return append(text, "null");
    }
    switch (type.kind) {
    case VALUE_BOOL:
        return append(text, load(start, 1) ? "true" : "false");
    case VALUE_CHAR:
        return append_quoted(text, start, 1);
    case VALUE_SIGNED:
    case VALUE_UNSIGNED:
        return append_integer(text, type, start);
    case VALUE_FLOAT:
        return append_float(text, type.size, start);
    case VALUE_STRING:
        return append_string(text, reader, load(start, sizeof(uintptr_t)));
    case VALUE_OBJECT:
        return append_object(text, reader, load(start, sizeof(uintptr_t)));
    case VALUE_ADDRESS:
        return append(text, "\"0x%llx\"", (unsigned long long)load(start, sizeof(uintptr_t)));
    default:
        return append_bytes(text, start, length);
    }
}
