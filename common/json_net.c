#include "json_net.h"

#include "bytes.h"
#include "json_writer.h"

/* Linux, include/linux/socket.h; the recording machine's numbers, not this one's. */
#define FAMILY_UNIX 1
#define FAMILY_INET 2
#define FAMILY_INET6 10
/* Offsets in struct sockaddr_in, sockaddr_in6. */
#define PORT_AT 2
#define IPV4_AT 4
#define IPV6_AT 8

static char *put_hex_digits(char *out, const uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        out = json_put_hex_byte(out, bytes[i]);
    return out;
}

char *json_put_hex_bytes(char *out, const uint8_t *bytes, size_t size)
{
    *out++ = '"';
    out = put_hex_digits(out, bytes, size);
    *out++ = '"';
    return out;
}

static char *put_ipv4(char *out, const uint8_t *bytes)
{
    for (int i = 0; i < 4; i++) {
        if (i > 0)
            *out++ = '.';
        out = json_put_u32(out, bytes[i]);
    }
    return out;
}

/* The longest run of zero groups, the first of equals; *out_length is 0 if none is worth it. */
static int find_zeros(const uint16_t groups[8], int *out_length)
{
    int best = 0, best_length = 1;

    for (int i = 0; i < 8; i++) {
        int length = 0;

        while (i + length < 8 && groups[i + length] == 0)
            length++;
        if (length > best_length) {
            best = i;
            best_length = length;
        }
        i += length;
    }
    *out_length = best_length > 1 ? best_length : 0;
    return best;
}

static char *put_group(char *out, uint16_t group)
{
    char text[JSON_NUMBER_MAX];
    char *end = json_put_hex(text, group);

    return json_put(out, text + 3, (size_t)(end - text - 4)); /* without "0x and " */
}

/* RFC 5952; addresses that hold an IPv4 one show it. */
static char *put_ipv6(char *out, const uint8_t *bytes)
{
    static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };
    uint16_t groups[8];
    int zeros, length;

    if (memcmp(bytes, mapped, sizeof(mapped)) == 0)
        return put_ipv4(JSON_PUT(out, "::ffff:"), bytes + 12);
    for (int i = 0; i < 8; i++)
        groups[i] = load_u16(bytes + 2 * i, true);
    zeros = find_zeros(groups, &length);
    for (int i = 0; i < 8; i++) {
        if (length > 0 && i == zeros) {
            out = JSON_PUT(out, "::");
            i += length - 1;
            continue;
        }
        if (i > 0 && !(length > 0 && i == zeros + length))
            *out++ = ':';
        out = put_group(out, groups[i]);
    }
    return out;
}

static char *put_mac(char *out, const uint8_t *bytes)
{
    for (int i = 0; i < 6; i++) {
        if (i > 0)
            *out++ = ':';
        out = json_put_hex_byte(out, bytes[i]);
    }
    return out;
}

/* A GUID's first three groups are little-endian numbers, a UUID's bytes come as they are. */
static char *put_uuid(char *out, const uint8_t *bytes, bool guid)
{
    static const uint8_t orders[2][16] = { { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 },
                                           { 3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14,
                                             15 } };

    for (int i = 0; i < 16; i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10)
            *out++ = '-';
        out = json_put_hex_byte(out, bytes[orders[guid][i]]);
    }
    return out;
}

static char *put_port(char *out, const uint8_t *bytes)
{
    out = JSON_PUT(out, ",\"port\":");
    return json_put_u32(out, load_u16(bytes + PORT_AT, true));
}

/* {"family":2,"addr":"127.0.0.1","port":53}; by family, else the bytes behind it. */
static char *put_sockaddr(char *out, const uint8_t *bytes, size_t size, bool big_endian)
{
    uint16_t family = load_u16(bytes, big_endian);

    out = JSON_PUT(out, "{\"family\":");
    out = json_put_u32(out, family);
    if (family == FAMILY_INET && size >= IPV4_AT + 4) {
        out = JSON_PUT(out, ",\"addr\":\"");
        out = put_ipv4(out, bytes + IPV4_AT);
        *out++ = '"';
        out = put_port(out, bytes);
    } else if (family == FAMILY_INET6 && size >= IPV6_AT + 16) {
        out = JSON_PUT(out, ",\"addr\":\"");
        out = put_ipv6(out, bytes + IPV6_AT);
        *out++ = '"';
        out = put_port(out, bytes);
    } else if (family == FAMILY_UNIX && size > 2 && bytes[2] != '\0') {
        out = JSON_PUT(out, ",\"path\":");
        out = json_put_text(out, (const char *)bytes + 2, size - 2);
    } else if (size > 2) {
        out = JSON_PUT(out, ",\"hex\":");
        out = json_put_hex_bytes(out, bytes + 2, size - 2);
    }
    *out++ = '}';
    return out;
}

char *json_put_net(char *out, enum trd_meaning meaning, const uint8_t *bytes, size_t size,
                   bool big_endian)
{
    if (meaning == TRD_MEANING_SOCKADDR && size >= 2)
        return put_sockaddr(out, bytes, size, big_endian);
    if (meaning == TRD_MEANING_SOCKADDR)
        return JSON_PUT(out, "{}");
    *out++ = '"';
    if (meaning == TRD_MEANING_IPV4 && size == 4)
        out = put_ipv4(out, bytes);
    else if (meaning == TRD_MEANING_IPV6 && size == 16)
        out = put_ipv6(out, bytes);
    else if (meaning == TRD_MEANING_MAC && size == 6)
        out = put_mac(out, bytes);
    else if ((meaning == TRD_MEANING_UUID || meaning == TRD_MEANING_GUID) && size == 16)
        out = put_uuid(out, bytes, meaning == TRD_MEANING_GUID);
    else
        out = put_hex_digits(out, bytes, size);
    *out++ = '"';
    return out;
}
