#include "print_helper.h"

#include "bytes.h"
#include "print_bytes.h"

/* The argument's value, or false after writing what is wrong with it. */
static bool take(struct print_out *out, const struct print_record *record, const struct node *node,
                 struct print_value *value)
{
    *value = print_eval(record, node);
    if (value->fault)
        out_text(out, print_fault_text(value->fault));
    return !value->fault;
}

/* A pointer whose memory the record holds, and how much of `wanted` bytes there is. */
static bool take_bytes(struct print_out *out, const struct print_record *record,
                       const struct node *node, uint64_t wanted, struct print_value *value)
{
    if (!take(out, record, node, value))
        return false;
    if (value->bytes && wanted <= value->size)
        return true;
    out_text(out, print_fault_text(value->bytes ? PRINT_FAULT_SHORT : PRINT_FAULT_KERNEL));
    return false;
}

static void print_flags(struct print_out *out, uint64_t flags, const struct node *helper)
{
    const struct trd_names *names = helper->call.names;
    const struct ctype *type = &helper->call.list[0]->type;
    bool first = true;

    for (uint32_t i = 0; i < names->count && flags; i++) {
        uint64_t mask = ctype_convert(type, names->entries[i].value);

        if ((flags & mask) != mask)
            continue;
        flags &= ~mask;
        if (!first)
            out_text(out, helper->call.text);
        first = false;
        out_text(out, names->entries[i].name);
    }
    if (!flags)
        return;
    if (!first)
        out_text(out, helper->call.text);
    out_text(out, "0x");
    out_number(out, flags, 16, 1);
}

static void print_symbolic(struct print_out *out, uint64_t value, const struct node *helper)
{
    const struct trd_names *names = helper->call.names;
    const struct ctype *type = &helper->call.list[0]->type;

    for (uint32_t i = 0; i < names->count; i++)
        if (ctype_convert(type, names->entries[i].value) == value) {
            out_text(out, names->entries[i].name);
            return;
        }
    out_text(out, "0x");
    out_number(out, value, 16, 1);
}

static void print_hex(struct print_out *out, const struct print_record *record,
                      const struct node *helper)
{
    struct print_value pointer, length;

    if (take(out, record, helper->call.list[1], &length) &&
        take_bytes(out, record, helper->call.list[0], (uint32_t)length.bits, &pointer))
        bytes_put_hex(out, pointer.bytes, (uint32_t)length.bits,
                      helper->op == HELPER_HEX ? ' ' : '\0');
}

static void print_array(struct print_out *out, const struct print_record *record,
                        const struct node *helper)
{
    struct print_value pointer, count, element;
    uint64_t size;

    if (!take(out, record, helper->call.list[1], &count) ||
        !take(out, record, helper->call.list[2], &element))
        return;
    if (element.bits != 1 && element.bits != 2 && element.bits != 4 && element.bits != 8) {
        out_text(out, "BAD SIZE:");
        out_number(out, element.bits, 10, 1);
        return;
    }
    if (__builtin_mul_overflow((uint64_t)(uint32_t)count.bits, element.bits, &size))
        size = UINT64_MAX;
    if (!take_bytes(out, record, helper->call.list[0], size, &pointer))
        return;
    out_char(out, '{');
    for (uint64_t at = 0; at < size; at += element.bits) {
        if (at > 0)
            out_char(out, ',');
        out_text(out, "0x");
        out_number(out,
                   load_int(pointer.bytes + at, element.bits, false, record->schema->big_endian),
                   16, 1);
    }
    out_char(out, '}');
}

static void print_bitmask(struct print_out *out, const struct print_record *record,
                          const struct node *helper)
{
    struct print_value pointer;
    struct bytes_bitmap map;

    if (!take_bytes(out, record, helper->call.list[0], 0, &pointer))
        return;
    map = (struct bytes_bitmap){ pointer.bytes, pointer.size, (uint32_t)pointer.size * 8 };
    bytes_put_bitmask(out, record->schema, &map);
}

static void print_hex_dump(struct print_out *out, const struct print_record *record,
                           const struct node *helper)
{
    struct bytes_dump dump = { .prefix = helper->call.text,
                               .big_endian = record->schema->big_endian };
    uint32_t *numbers[] = { &dump.size, &dump.prefix_type, &dump.row, &dump.group,
                            &dump.with_text };
    struct print_value value;

    for (uint32_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        if (!take(out, record, helper->call.list[i + 1], &value))
            return;
        *numbers[i] = (uint32_t)value.bits;
    }
    if (!take_bytes(out, record, helper->call.list[0], dump.size, &value))
        return;
    dump.bytes = value.bytes;
    bytes_put_dump(out, &dump);
}

void print_helper(struct print_out *out, const struct print_record *record,
                  const struct node *helper)
{
    struct print_value value;

    switch (helper->op) {
    case HELPER_FLAGS:
        if (take(out, record, helper->call.list[0], &value))
            print_flags(out, value.bits, helper);
        break;
    case HELPER_SYMBOLIC:
        if (take(out, record, helper->call.list[0], &value))
            print_symbolic(out, value.bits, helper);
        break;
    case HELPER_HEX:
    case HELPER_HEX_STR:
        print_hex(out, record, helper);
        break;
    case HELPER_ARRAY:
        print_array(out, record, helper);
        break;
    case HELPER_HEX_DUMP:
        print_hex_dump(out, record, helper);
        break;
    default:
        print_bitmask(out, record, helper);
        break;
    }
}
