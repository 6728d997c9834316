/*
 * The kernel's text of one event. Most follow their print format; a few of ftrace's own have a
 * function in the kernel whose text their format only hints at (kernel/trace/trace_output.c).
 */
#include <string.h>

#include "bytes.h"
#include "field.h"
#include "print.h"

static bool find_bytes(const struct print_record *record, const char *name, struct field_bytes *out)
{
    const struct trd_field *field = trd_schema_field(record->schema, name);

    return field && field_find(record->schema, field, record->data, record->size, out);
}

static uint64_t field_value(const struct print_record *record, const char *name)
{
    struct field_bytes bytes;

    return find_bytes(record, name, &bytes)
               ? load_int(bytes.at, bytes.size, false, record->schema->big_endian)
               : 0;
}

/* Addresses up to the first that ends the list; false behind the last. */
static bool next_address(const struct print_record *record, struct field_bytes *callers,
                         uint64_t *out)
{
    uint8_t size = record->schema->long_size;
    uint64_t end = size == 8 ? UINT64_MAX : UINT32_MAX;

    if (callers->size < size)
        return false;
    *out = load_int(callers->at, size, false, record->schema->big_endian);
    callers->at += size;
    callers->size -= size;
    return *out != 0 && *out != end;
}

static void print_kernel_stack(struct print_out *out, const struct print_record *record)
{
    struct field_bytes callers;
    uint64_t address;

    out_text(out, "<stack trace>");
    if (!find_bytes(record, "caller", &callers))
        return;
    while (next_address(record, &callers, &address)) {
        out_text(out, "\n => ");
        print_symbol(out, record, address, false);
    }
}

static void print_user_stack(struct print_out *out, const struct print_record *record)
{
    struct field_bytes callers;
    uint64_t address;

    out_text(out, "<user stack trace>");
    if (!find_bytes(record, "caller", &callers))
        return;
    while (next_address(record, &callers, &address)) {
        out_text(out, "\n =>  <");
        out_number(out, address, 16, record->schema->long_size * 2u);
        out_char(out, '>');
    }
}

static void print_raw_data(struct print_out *out, const struct print_record *record)
{
    struct field_bytes bytes;

    out_text(out, "# ");
    out_number(out, field_value(record, "id"), 16, 1);
    out_text(out, " buf:");
    if (!find_bytes(record, "buf", &bytes))
        return;
    for (size_t i = 0; i < bytes.size; i++) {
        out_char(out, ' ');
        out_number(out, bytes.at[i], 16, 2);
    }
}

/* Arguments as vbin_printf packed them: integers aligned to their size, at most to 4; texts inline.
 */
struct packed {
    const struct print_record *record;
    struct field_bytes bytes;
    size_t at;
};

static bool take_integer(struct packed *packed, uint8_t size, bool is_signed, struct node *out)
{
    size_t align = size < 4 ? size : 4;
    size_t at = (packed->at + align - 1) / align * align;

    *out = (struct node){ .kind = NODE_CONST, .type = ctype_int(size, is_signed) };
    if (at > packed->bytes.size || packed->bytes.size - at < size)
        return false;
    out->bits =
        load_int(packed->bytes.at + at, size, is_signed, packed->record->schema->big_endian);
    packed->at = at + size;
    return true;
}

static bool take_text(struct packed *packed, struct node *out)
{
    const char *text = (const char *)packed->bytes.at + packed->at;
    size_t left = packed->bytes.size - packed->at;
    size_t size = strnlen(text, left);

    *out = (struct node){ .kind = NODE_STRING,
                          .type = { .kind = CTYPE_POINTER, .target_size = 1 },
                          .string = { text, (uint32_t)size } };
    packed->at += size + 1;
    return size < left;
}

/* What the kernel could not put off: extensions that look behind the pointer are packed as text. */
static bool is_packed_as_text(const struct print_piece *piece)
{
    return piece->conversion == 's' || (piece->conversion == 'p' && piece->extension[0] &&
                                        !strchr("SsFfxKeB", *piece->extension));
}

static bool take_argument(struct packed *packed, struct print_piece *piece, struct node *out)
{
    uint8_t size = piece->size;

    piece->argument = out;
    if (is_packed_as_text(piece)) {
        piece->conversion = 's';
        return take_text(packed, out);
    }
    if (piece->conversion == 'p')
        size = packed->record->schema->long_size;
    else if (piece->conversion == 'c')
        size = 1;
    return take_integer(packed, size, piece->conversion == 'd', out);
}

/* trace_printk: its format string is in kernel memory, listed in printk_formats. */
static void print_bprint(struct print_out *out, const struct print_record *record)
{
    const char *at =
        record->catalog ? trd_catalog_printk(record->catalog, field_value(record, "fmt")) : NULL;
    const char *end = at ? at + strlen(at) : NULL;
    struct packed packed = { .record = record };
    struct node argument, width, precision;
    struct print_piece piece;
    unsigned stars;

    print_symbol(out, record, field_value(record, "ip"), false);
    out_text(out, ": ");
    if (!at || !find_bytes(record, "buf", &packed.bytes)) {
        out_text(out, print_fault_text(PRINT_FAULT_KERNEL));
        return;
    }
    while (piece_next(&at, end, record->schema->long_size, &piece, &stars)) {
        bool whole = true;

        if (stars & 1 && (whole = take_integer(&packed, 4, true, &width)))
            piece.width_argument = &width;
        if (stars & 2 && whole && (whole = take_integer(&packed, 4, true, &precision)))
            piece.precision_argument = &precision;
        if (piece.conversion && whole)
            whole = take_argument(&packed, &piece, &argument);
        if (!whole) {
            out_text(out, print_fault_text(PRINT_FAULT_SHORT));
            return;
        }
        print_pieces(out, record, &piece, 1);
    }
}

typedef void (*event_printer)(struct print_out *out, const struct print_record *record);

static event_printer own_printer(const struct trd_schema *schema)
{
    static const struct {
        const char *name;
        event_printer print;
    } printers[] = {
        { "kernel_stack", print_kernel_stack },
        { "user_stack", print_user_stack },
        { "raw_data", print_raw_data },
        { "bprint", print_bprint },
    };

    if (strcmp(schema->system, "ftrace") != 0)
        return NULL;
    for (size_t i = 0; i < sizeof(printers) / sizeof(printers[0]); i++)
        if (strcmp(schema->name, printers[i].name) == 0)
            return printers[i].print;
    return NULL;
}

size_t trd_event_print(const struct trd_catalog *catalog, const struct trd_schema *schema,
                       const uint8_t *data, size_t size, char *out, size_t capacity)
{
    struct print_record record = { catalog, schema, data, size };
    struct print_out text = { out, capacity > 0 ? capacity - 1 : 0, 0 };
    event_printer own = own_printer(schema);

    if (own)
        own(&text, &record);
    else if (schema->print_format)
        print_pieces(&text, &record, schema->print_format->pieces, schema->print_format->count);
    /* A marker's text brings its own newline; the line's end is the caller's. */
    if (text.length > 0 && text.length <= text.capacity && out[text.length - 1] == '\n')
        text.length--;
    if (capacity > 0)
        out[text.length < capacity ? text.length : capacity - 1] = '\0';
    return text.length;
}
