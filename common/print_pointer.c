#include "print_pointer.h"

#include "bytes.h"
#include "catalog_private.h"
#include "print_bytes.h"

/* Address families of the recording kernel; the same on every Linux. */
#define FAMILY_IPV4 2
#define FAMILY_IPV6 10
#define FLOWINFO_MASK 0x0fffffffu

bool pointer_is_known(const char *extension)
{
    static const char *const known[] = { "S",  "s",  "F",  "f",  "B",  "M", "m", "h", "b", "I4",
                                         "i4", "I6", "i6", "IS", "iS", "U", "K", "x", "a", "NF" };

    if (!*extension)
        return true;
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (strncmp(extension, known[i], strlen(known[i])) == 0)
            return true;
    return false;
}

/* `back` bytes before the address decide which symbol it belongs to. */
static void put_symbol(struct print_out *out, const struct print_record *record, uint64_t address,
                       uint64_t back, bool with_offset)
{
    struct symbol symbol;

    if (!record->catalog || !symbols_find(record->catalog->symbols, address - back, &symbol)) {
        out_text(out, "0x");
        out_number(out, address, 16, 1);
        return;
    }
    out_text(out, symbol.name);
    if (with_offset) {
        out_text(out, "+0x");
        out_number(out, address - symbol.address, 16, 1);
        out_text(out, "/0x");
        out_number(out, symbol.size, 16, 1);
    }
    if (symbol.module) {
        out_text(out, " [");
        out_text(out, symbol.module);
        out_char(out, ']');
    }
}

void print_symbol(struct print_out *out, const struct print_record *record, uint64_t address,
                  bool with_offset)
{
    put_symbol(out, record, address, 0, with_offset);
}

static void put_address(struct print_out *out, const struct print_record *record, uint64_t address)
{
    out_number(out, address, 16, record->schema->long_size * 2u);
}

static void put_mac(struct print_out *out, const uint8_t *bytes, const char *style)
{
    char separator = style[0] == 'm' ? '\0' : style[1] == 'F' ? '-' : ':';

    bytes_put_mac(out, bytes, separator, style[1] == 'R' || (style[1] && style[2] == 'R'));
}

static void put_ipv4(struct print_out *out, const struct print_record *record, const uint8_t *bytes,
                     const char *style)
{
    bool little = style[2] == 'l' || (style[2] == 'h' && !record->schema->big_endian);

    bytes_put_ipv4(out, bytes, little, style[0] == 'i');
}

/* struct sockaddr_in: family, port, address; _in6: family, port, flow, address, scope. */
static void put_sockaddr(struct print_out *out, const struct print_record *record,
                         const struct print_value *value, const char *style)
{
    const uint8_t *bytes = value->bytes;
    uint16_t family = value->size >= 2 ? load_u16(bytes, record->schema->big_endian) : 0;
    bool port = strchr(style, 'p'), flow = strchr(style, 'f'), scope = strchr(style, 's');

    if (family == FAMILY_IPV4 && value->size >= 8) {
        bytes_put_ipv4(out, bytes + 4, false, style[0] == 'i');
    } else if (family == FAMILY_IPV6 && value->size >= 24) {
        if (port || flow || scope)
            out_char(out, '[');
        bytes_put_ipv6(out, bytes + 8, strchr(style, 'c') ? 'c' : style[0]);
        if (port || flow || scope)
            out_char(out, ']');
    } else {
        out_text(out, "(einval)");
        return;
    }
    if (port) {
        out_char(out, ':');
        out_number(out, load_u16(bytes + 2, true), 10, 1);
    }
    if (family == FAMILY_IPV6 && flow) {
        out_char(out, '/');
        out_number(out, load_u32(bytes + 4, true) & FLOWINFO_MASK, 10, 1);
    }
    if (family == FAMILY_IPV6 && scope && value->size >= 28) {
        out_char(out, '%');
        out_number(out, load_u32(bytes + 24, record->schema->big_endian), 10, 1);
    }
}

static char hex_separator(const char *style)
{
    switch (style[1]) {
    case 'C':
        return ':';
    case 'D':
        return '-';
    case 'N':
        return '\0';
    default:
        return ' ';
    }
}

/* Bytes the extension reads behind the pointer. */
static uint64_t bytes_needed(const struct print_record *record, const char *extension,
                             int64_t width)
{
    uint64_t long_bits = record->schema->long_size * 8u;

    switch (extension[0]) {
    case 'M':
    case 'm':
        return 6;
    case 'I':
    case 'i':
        return extension[1] == '4' ? 4 : extension[1] == '6' ? 16 : 2;
    case 'U':
        return 16;
    case 'a':
    case 'N':
        return 8;
    case 'h':
        return width > 0 ? (uint64_t)width : 1;
    default: /* b */
        return width > 0 ? ((uint64_t)width + long_bits - 1) / long_bits * (long_bits / 8) : 0;
    }
}

static void put_memory(struct print_out *out, const struct print_record *record,
                       const char *extension, const struct print_value *value, int64_t width)
{
    struct bytes_bitmap map = { value->bytes, value->size, width > 0 ? (uint32_t)width : 0 };

    switch (extension[0]) {
    case 'M':
    case 'm':
        put_mac(out, value->bytes, extension);
        break;
    case 'I':
    case 'i':
        if (extension[1] == '4')
            put_ipv4(out, record, value->bytes, extension);
        else if (extension[1] == '6')
            bytes_put_ipv6(out, value->bytes, extension[2] == 'c' ? 'c' : extension[0]);
        else
            put_sockaddr(out, record, value, extension);
        break;
    case 'U':
        bytes_put_uuid(out, value->bytes, extension[1] ? extension[1] : 'b');
        break;
    case 'a':
    case 'N':
        out_text(out, "0x");
        out_number(out, load_u64(value->bytes, record->schema->big_endian), 16, 16);
        break;
    case 'h':
        bytes_put_hex(out, value->bytes, (size_t)bytes_needed(record, extension, width),
                      hex_separator(extension));
        break;
    default:
        if (extension[1] == 'l')
            bytes_put_bit_list(out, record->schema, &map);
        else
            bytes_put_bitmask(out, record->schema, &map);
        break;
    }
}

void print_pointer(struct print_out *out, const struct print_record *record, const char *extension,
                   struct print_value value, int64_t width)
{
    switch (pointer_is_known(extension) ? extension[0] : '\0') {
    case 'S':
    case 'F':
        print_symbol(out, record, value.bits, true);
        break;
    case 'B': /* a return address: it may lie behind the end of the function that called */
        put_symbol(out, record, value.bits, 1, true);
        break;
    case 's':
    case 'f':
        print_symbol(out, record, value.bits, false);
        break;
    case '\0':
    case 'K':
    case 'x':
        if (value.bytes) /* where it lay in the kernel's ring buffer is not recorded */
            out_text(out, print_fault_text(PRINT_FAULT_KERNEL));
        else
            put_address(out, record, value.bits);
        break;
    default:
        if (value.bytes && bytes_needed(record, extension, width) <= value.size)
            put_memory(out, record, extension, &value, width);
        else if (!value.bytes && value.bits == 0)
            out_text(out, "(null)");
        else
            out_text(out, print_fault_text(value.bytes ? PRINT_FAULT_SHORT : PRINT_FAULT_KERNEL));
        break;
    }
}
