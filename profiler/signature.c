#include "signature.h"

#include "cursor.h"

#define DEPTH_MAX 16
#define RANK_MAX 32

/* Of the first byte. */
#define KIND_MASK 0x0f
#define KIND_VARARG 0x05 /* more than that are fields, locals, properties */
#define IS_GENERIC 0x10
#define HAS_THIS 0x20
#define EXPLICIT_THIS 0x40 /* it is among the parameters: no compiler makes such */

/* II.23.2: 7, 14 or 29 bits, the high ones first. */
static uint32_t number(struct cursor *cursor)
{
    uint32_t first = cursor_u8(cursor);

    if (first < 0x80)
        return first;
    if (first < 0xc0)
        return (first & 0x3f) << 8 | cursor_u8(cursor);
    if (first >= 0xe0)
        cursor->failed = true;
    first = (first & 0x1f) << 24 | (uint32_t)cursor_u8(cursor) << 16;
    first |= (uint32_t)cursor_u8(cursor) << 8;
    return first | cursor_u8(cursor);
}

/* II.23.2.8: the table in the two low bits. */
static uint32_t token(struct cursor *cursor)
{
    static const uint32_t tables[] = { 0x02000000, 0x01000000, 0x1b000000, 0 };
    uint32_t coded = number(cursor);

    return tables[coded & 3] | coded >> 2;
}

static void read_type(struct cursor *cursor, struct signature_type *out, unsigned depth);

static void skip_type(struct cursor *cursor, unsigned depth)
{
    struct signature_type type;

    read_type(cursor, &type, depth);
}

static void skip_shape(struct cursor *cursor)
{
    uint32_t count;

    (void)number(cursor);
    for (int i = 0; i < 2; i++) { /* sizes, lower bounds */
        count = number(cursor);
        cursor->failed |= count > RANK_MAX;
        while (!cursor->failed && count-- > 0)
            (void)number(cursor);
    }
}

static void skip_method(struct cursor *cursor, unsigned depth)
{
    uint32_t count;

    if (cursor_u8(cursor) & IS_GENERIC)
        (void)number(cursor);
    count = number(cursor);
    cursor->failed |= count > SIGNATURE_PARAMETERS_MAX;
    for (uint32_t i = 0; !cursor->failed && i <= count; i++)
        skip_type(cursor, depth);
}

static void read_instance(struct cursor *cursor, struct signature_type *out, unsigned depth)
{
    uint32_t count;

    out->element = cursor_u8(cursor);
    cursor->failed |= out->element != ELEMENT_CLASS && out->element != ELEMENT_VALUE_TYPE;
    out->number = token(cursor);
    count = number(cursor);
    cursor->failed |= count > SIGNATURE_PARAMETERS_MAX;
    while (!cursor->failed && count-- > 0)
        skip_type(cursor, depth);
}

/* What is behind the element; its inner types are none of ours. */
static void read_rest(struct cursor *cursor, struct signature_type *out, unsigned depth)
{
    switch (out->element) {
    case ELEMENT_VALUE_TYPE:
    case ELEMENT_CLASS:
        out->number = token(cursor);
        return;
    case ELEMENT_TYPE_PARAMETER:
    case ELEMENT_METHOD_PARAMETER:
        out->number = number(cursor);
        return;
    case ELEMENT_GENERIC:
        read_instance(cursor, out, depth);
        return;
    case ELEMENT_POINTER:
    case ELEMENT_REFERENCE:
    case ELEMENT_VECTOR:
        skip_type(cursor, depth);
        return;
    case ELEMENT_ARRAY:
        skip_type(cursor, depth);
        skip_shape(cursor);
        return;
    case ELEMENT_FUNCTION_POINTER:
        skip_method(cursor, depth);
        return;
    default:
        cursor->failed |= out->element == 0 || out->element > ELEMENT_OBJECT ||
                          out->element == 0x17 || out->element == 0x1a;
    }
}

static void read_type(struct cursor *cursor, struct signature_type *out, unsigned depth)
{
    *out = (struct signature_type){ 0 };
    cursor->failed |= depth >= DEPTH_MAX;
    if (cursor->failed)
        return;
    out->element = cursor_u8(cursor);
    while (out->element == ELEMENT_REQUIRED_MODIFIER || out->element == ELEMENT_OPTIONAL_MODIFIER ||
           out->element == ELEMENT_PINNED) {
        if (out->element != ELEMENT_PINNED)
            (void)token(cursor);
        out->element = cursor_u8(cursor);
    }
    read_rest(cursor, out, depth + 1);
}

bool signature_parse(const uint8_t *bytes, size_t size, struct signature *out)
{
    struct cursor cursor = { .at = bytes, .left = bytes ? size : 0 };
    uint8_t first = cursor_u8(&cursor);

    if ((first & KIND_MASK) >= KIND_VARARG || first & EXPLICIT_THIS)
        return false;
    if (first & IS_GENERIC)
        (void)number(&cursor);
    out->has_this = first & HAS_THIS;
    out->count = number(&cursor);
    if (cursor.failed || out->count > SIGNATURE_PARAMETERS_MAX)
        return false;
    read_type(&cursor, &out->result, 0);
    for (size_t i = 0; i < out->count; i++)
        read_type(&cursor, &out->parameters[i], 0);
    return !cursor.failed;
}
