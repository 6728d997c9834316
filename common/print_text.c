#include "print_text.h"

#include "print_bytes.h"
#include "print_helper.h"

/* lib/vsprintf.c, number(): there zeros fill the width even where a precision is given. */
static void put_number(struct print_out *out, const struct print_piece *piece, uint64_t value,
                       int64_t width, int64_t precision)
{
    unsigned base = piece->conversion == 'o' ? 8 : strchr("xX", piece->conversion) ? 16 : 10;
    bool zeros = (piece->flags & (PIECE_ZERO | PIECE_LEFT)) == PIECE_ZERO;
    bool prefix = (piece->flags & PIECE_ALTERNATE) && base != 10 && (base == 16 || value);
    char digits[24], *at = digits + sizeof(digits), sign = '\0';

    if (piece->conversion == 'd' && (int64_t)value < 0) {
        sign = '-';
        value = 0 - value;
    } else if (piece->conversion == 'd' && piece->flags & (PIECE_PLUS | PIECE_SPACE)) {
        sign = piece->flags & PIECE_PLUS ? '+' : ' ';
    }
    do
        *--at = (piece->conversion == 'X' ? "0123456789ABCDEF" : "0123456789abcdef")[value % base];
    while (value /= base);
    if (precision < digits + sizeof(digits) - at)
        precision = digits + sizeof(digits) - at;
    width -= precision + (sign != '\0') + (prefix ? base == 16 ? 2 : 1 : 0);
    if (!zeros && !(piece->flags & PIECE_LEFT) && width > 0)
        out_repeat(out, ' ', (size_t)width);
    if (sign)
        out_char(out, sign);
    if (prefix)
        out_bytes(out, piece->conversion == 'X' ? "0X" : "0x", base == 16 ? 2 : 1);
    if (zeros && width > 0)
        out_repeat(out, '0', (size_t)width);
    out_repeat(out, '0', (size_t)(precision - (digits + sizeof(digits) - at)));
    out_bytes(out, at, (size_t)(digits + sizeof(digits) - at));
    if (piece->flags & PIECE_LEFT && width > 0)
        out_repeat(out, ' ', (size_t)width);
}

static void put_call(struct print_out *out, const struct print_record *record,
                     const struct node *node);

/* A pointer to text outside the record: the kernel registers some of them. */
static void put_kernel_text(struct print_out *out, const struct print_record *record,
                            uint64_t address)
{
    const char *text = record->catalog ? trd_catalog_printk(record->catalog, address) : NULL;

    if (address == 0)
        text = "(null)";
    if (text) {
        out_text(out, text);
        return;
    }
    out_text(out, "0x");
    out_number(out, address, 16, 1);
}

/* What `%s` shows of an argument, without width and precision. */
static void put_text(struct print_out *out, const struct print_record *record,
                     const struct node *node)
{
    struct print_value value;

    while (node->kind == NODE_TERNARY || node->kind == NODE_CAST) {
        if (node->kind == NODE_TERNARY) {
            value = print_eval(record, node->operand.a);
            if (value.fault) {
                out_text(out, print_fault_text(value.fault));
                return;
            }
            node = value.bits ? node->operand.b : node->operand.c;
        } else {
            node = node->operand.a;
        }
    }
    if (node->kind == NODE_HELPER) {
        print_helper(out, record, node);
        return;
    }
    if (node->kind == NODE_CALL) {
        put_call(out, record, node);
        return;
    }
    value = print_eval(record, node);
    if (value.fault)
        out_text(out, print_fault_text(value.fault));
    else if (value.bytes)
        out_bytes(out, value.bytes, strnlen((const char *)value.bytes, value.size));
    else
        put_kernel_text(out, record, value.bits);
}

#define CALL_BYTES_MAX 64 /* of an array that a call is handed */

static void put_call_argument(struct print_out *out, const struct print_record *record,
                              const struct node *argument)
{
    struct print_piece piece = { .conversion = argument->type.is_signed ? 'd' : 'u' };
    struct print_value value = print_eval(record, argument);
    bool is_text = argument->type.kind == CTYPE_POINTER && argument->type.target_size == 1;

    if (argument->kind == NODE_CALL || argument->kind == NODE_HELPER || is_text)
        put_text(out, record, argument);
    else if (value.fault)
        out_text(out, print_fault_text(value.fault));
    else if (value.bytes)
        bytes_put_hex(out, value.bytes, value.size < CALL_BYTES_MAX ? value.size : CALL_BYTES_MAX,
                      ' ');
    else
        put_number(out, &piece, value.bits, -1, -1);
}

/* `function(1, "text")`: what was asked of the kernel. */
static void put_call(struct print_out *out, const struct print_record *record,
                     const struct node *node)
{
    out_text(out, node->call.text);
    out_char(out, '(');
    for (uint32_t i = 0; i < node->call.count; i++) {
        if (i > 0)
            out_text(out, ", ");
        put_call_argument(out, record, node->call.list[i]);
    }
    out_char(out, ')');
}

static void put_pointer(struct print_out *out, const struct print_record *record,
                        const struct print_piece *piece, int64_t width)
{
    struct print_value value = print_eval(record, piece->argument);

    if (piece->argument->kind == NODE_CALL)
        put_call(out, record, piece->argument);
    else if (value.fault)
        out_text(out, print_fault_text(value.fault));
    else
        print_pointer(out, record, piece->extension, value, width);
}

/* Text of a `%s` or `%p`, without padding. */
static void put_unpadded(struct print_out *out, const struct print_record *record,
                         const struct print_piece *piece, int64_t width, int64_t precision)
{
    struct print_out cut = *out;

    if (piece->conversion == 'p') {
        put_pointer(out, record, piece, width);
        return;
    }
    if (precision < 0) {
        put_text(out, record, piece->argument);
        return;
    }
    if (cut.capacity > cut.length + (size_t)precision)
        cut.capacity = cut.length + (size_t)precision;
    put_text(&cut, record, piece->argument);
    if (cut.length > out->length + (size_t)precision)
        cut.length = out->length + (size_t)precision;
    out->length = cut.length;
}

static void put_padded(struct print_out *out, const struct print_record *record,
                       const struct print_piece *piece, int64_t width, int64_t precision)
{
    struct print_out measure = { 0 };
    bool has_own_width =
        piece->conversion == 'p' && strchr("hb", piece->extension[0]) && piece->extension[0];

    if (width <= 0 || has_own_width) {
        put_unpadded(out, record, piece, width, precision);
        return;
    }
    put_unpadded(&measure, record, piece, width, precision);
    if (measure.length < (size_t)width && !(piece->flags & PIECE_LEFT))
        out_repeat(out, ' ', (size_t)width - measure.length);
    put_unpadded(out, record, piece, width, precision);
    if (measure.length < (size_t)width && piece->flags & PIECE_LEFT)
        out_repeat(out, ' ', (size_t)width - measure.length);
}

static void put_integer(struct print_out *out, const struct print_record *record,
                        const struct print_piece *piece, int64_t width, int64_t precision)
{
    struct ctype type = ctype_int(piece->size, piece->conversion == 'd');
    struct print_value value = print_eval(record, piece->argument);

    if (piece->argument->kind == NODE_CALL)
        put_call(out, record, piece->argument);
    else if (value.fault)
        out_text(out, print_fault_text(value.fault));
    else
        put_number(out, piece, ctype_convert(&type, value.bits), width, precision);
}

static void put_character(struct print_out *out, const struct print_record *record,
                          const struct print_piece *piece, int64_t width)
{
    struct print_value value = print_eval(record, piece->argument);

    if (value.fault) {
        out_text(out, print_fault_text(value.fault));
        return;
    }
    if (!(piece->flags & PIECE_LEFT) && width > 1)
        out_repeat(out, ' ', (size_t)width - 1);
    out_char(out, (char)value.bits);
    if (piece->flags & PIECE_LEFT && width > 1)
        out_repeat(out, ' ', (size_t)width - 1);
}

static int64_t count_of(const struct print_record *record, const struct node *argument,
                        int64_t constant)
{
    struct print_value value;

    if (!argument)
        return constant;
    value = print_eval(record, argument);
    return value.fault ? -1 : (int64_t)(int32_t)value.bits;
}

#define COUNT_MAX 65536 /* more padding than any record is long */

static void put_piece(struct print_out *out, const struct print_record *record,
                      const struct print_piece *piece)
{
    int64_t width = count_of(record, piece->width_argument, piece->width);
    int64_t precision = count_of(record, piece->precision_argument, piece->precision);
    struct print_piece left;

    if (piece->width_argument && width < 0) { /* as C has it: a negative `*` is the flag `-` */
        left = *piece;
        left.flags |= PIECE_LEFT;
        piece = &left;
        width = -width;
    }
    width = width > COUNT_MAX ? COUNT_MAX : width;
    precision = precision > COUNT_MAX ? COUNT_MAX : precision;
    if (!piece->argument) {
        out_bytes(out, piece->text, piece->text_size);
        return;
    }
    switch (piece->conversion) {
    case 's':
    case 'p':
        put_padded(out, record, piece, width, precision);
        break;
    case 'c':
        put_character(out, record, piece, width);
        break;
    default:
        put_integer(out, record, piece, width, precision);
        break;
    }
}

void print_pieces(struct print_out *out, const struct print_record *record,
                  const struct print_piece *pieces, size_t count)
{
    for (size_t i = 0; i < count; i++)
        put_piece(out, record, &pieces[i]);
}
