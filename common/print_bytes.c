#include "print_bytes.h"

#include "bytes.h"

void bytes_put_hex(struct print_out *out, const uint8_t *bytes, size_t size, char separator)
{
    for (size_t i = 0; i < size; i++) {
        if (i > 0 && separator)
            out_char(out, separator);
        out_number(out, bytes[i], 16, 2);
    }
}

/* Up to 32 bits of a bitmap; what lies behind its last whole long is clear. */
static uint32_t bits_at(const struct trd_schema *schema, const struct bytes_bitmap *map,
                        uint32_t bit, uint32_t count)
{
    uint32_t long_bits = schema->long_size * 8u;
    size_t at = bit / long_bits * schema->long_size;
    uint64_t word;

    if (at + schema->long_size > map->size)
        return 0;
    word = load_int(map->bytes + at, schema->long_size, false, schema->big_endian);
    word >>= bit % long_bits;
    return (uint32_t)(count < 32 ? word & ((1u << count) - 1) : word);
}

void bytes_put_bitmask(struct print_out *out, const struct trd_schema *schema,
                       const struct bytes_bitmap *map)
{
    uint32_t count = map->bits % 32 ? map->bits % 32 : 32;

    if (map->bits == 0)
        return;
    for (uint32_t bit = (map->bits - 1) / 32 * 32;; bit -= 32) {
        if (bit + count < map->bits)
            out_char(out, ',');
        out_number(out, bits_at(schema, map, bit, count), 16, (count + 3) / 4);
        count = 32;
        if (bit == 0)
            break;
    }
}

void bytes_put_bit_list(struct print_out *out, const struct trd_schema *schema,
                        const struct bytes_bitmap *map)
{
    bool first = true;

    for (uint32_t bit = 0; bit < map->bits; bit++) {
        uint32_t start = bit;

        if (!bits_at(schema, map, bit, 1))
            continue;
        while (bit + 1 < map->bits && bits_at(schema, map, bit + 1, 1))
            bit++;
        if (!first)
            out_char(out, ',');
        first = false;
        out_number(out, start, 10, 1);
        if (bit > start) {
            out_char(out, '-');
            out_number(out, bit, 10, 1);
        }
    }
}

void bytes_put_mac(struct print_out *out, const uint8_t bytes[6], char separator, bool reversed)
{
    for (int i = 0; i < 6; i++) {
        if (i > 0 && separator)
            out_char(out, separator);
        out_number(out, bytes[reversed ? 5 - i : i], 16, 2);
    }
}

void bytes_put_ipv4(struct print_out *out, const uint8_t bytes[4], bool reversed, bool padded)
{
    for (int i = 0; i < 4; i++) {
        if (i > 0)
            out_char(out, '.');
        out_number(out, bytes[reversed ? 3 - i : i], 10, padded ? 3 : 1);
    }
}

/* Addresses whose last four bytes the kernel writes as IPv4: mapped ones and ISATAP. */
static bool has_ipv4_tail(const uint8_t bytes[16])
{
    static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };

    return memcmp(bytes, mapped, sizeof(mapped)) == 0 ||
           ((bytes[8] | 2) == 2 && bytes[9] == 0 && bytes[10] == 0x5e && bytes[11] == 0xfe);
}

static unsigned group_at(const uint8_t bytes[16], int group)
{
    return (unsigned)bytes[2 * group] << 8 | bytes[2 * group + 1];
}

/* The first of the longest runs of zero groups; length 1 does not count. */
static int longest_zeros(const uint8_t bytes[16], int groups, int *out_length)
{
    int best = -1, best_length = 1;

    for (int i = 0; i < groups; i++) {
        int length = 0;

        while (i + length < groups && group_at(bytes, i + length) == 0)
            length++;
        if (length > best_length) {
            best = i;
            best_length = length;
        }
    }
    *out_length = best_length;
    return best;
}

static void put_ipv6_short(struct print_out *out, const uint8_t bytes[16])
{
    bool tail = has_ipv4_tail(bytes), need_colon = false;
    int groups = tail ? 6 : 8, length;
    int zeros = longest_zeros(bytes, groups, &length);

    for (int i = 0; i < groups; i++) {
        if (i == zeros) {
            if (need_colon || i == 0)
                out_char(out, ':');
            out_char(out, ':');
            need_colon = false;
            i += length - 1;
            continue;
        }
        if (need_colon)
            out_char(out, ':');
        out_number(out, group_at(bytes, i), 16, 1);
        need_colon = true;
    }
    if (tail) {
        if (need_colon)
            out_char(out, ':');
        bytes_put_ipv4(out, bytes + 12, false, false);
    }
}

void bytes_put_ipv6(struct print_out *out, const uint8_t bytes[16], char style)
{
    if (style == 'c') {
        put_ipv6_short(out, bytes);
        return;
    }
    for (int i = 0; i < 8; i++) {
        if (i > 0 && style == 'I')
            out_char(out, ':');
        out_number(out, group_at(bytes, i), 16, 4);
    }
}

void bytes_put_uuid(struct print_out *out, const uint8_t bytes[16], char kind)
{
    static const uint8_t big[16] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 };
    static const uint8_t little[16] = { 3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15 };
    const uint8_t *order = kind == 'l' || kind == 'L' ? little : big;
    const char *digits = kind == 'B' || kind == 'L' ? "0123456789ABCDEF" : "0123456789abcdef";

    for (int i = 0; i < 16; i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10)
            out_char(out, '-');
        out_char(out, digits[bytes[order[i]] >> 4]);
        out_char(out, digits[bytes[order[i]] & 15]);
    }
}

static void put_dump_row(struct print_out *out, const struct bytes_dump *dump, uint32_t at,
                         uint32_t row, uint32_t group, uint32_t size)
{
    size_t start = out->length, column = row * 2 + row / group + 1;

    for (uint32_t i = 0; i < size; i += group) {
        if (i > 0)
            out_char(out, ' ');
        out_number(out, load_int(dump->bytes + at + i, group, false, dump->big_endian), 16,
                   group * 2);
    }
    if (!dump->with_text)
        return;
    while (out->length - start < column)
        out_char(out, ' ');
    for (uint32_t i = 0; i < size; i++) {
        uint8_t c = dump->bytes[at + i];

        out_char(out, c >= 0x20 && c < 0x7f ? (char)c : '.');
    }
}

void bytes_put_dump(struct print_out *out, const struct bytes_dump *dump)
{
    uint32_t row = dump->row == 32 ? 32 : 16, group = dump->group;

    if (group != 2 && group != 4 && group != 8)
        group = 1;
    out_char(out, '\n');
    for (uint32_t at = 0; at < dump->size; at += row) {
        uint32_t size = dump->size - at < row ? dump->size - at : row;

        out_text(out, dump->prefix);
        if (dump->prefix_type == BYTES_PREFIX_OFFSET) {
            out_number(out, at, 16, 8);
            out_text(out, ": ");
        }
        put_dump_row(out, dump, at, row, size % group ? 1 : group, size);
        out_char(out, '\n');
    }
}
