/*
 * Bytes that have a written form of their own: network addresses, UUIDs, plain hexadecimal. All of
 * them write a JSON value and are told the bytes' exact number; what does not have the size its
 * form asks for is written as hexadecimal text, so that the JSON type stays the same.
 */
#ifndef TRD_COMMON_JSON_NET_H
#define TRD_COMMON_JSON_NET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tracerd/schema.h"

/* Room for any of these of `size` bytes. */
#define JSON_NET_MAX(size) (6 * (size_t)(size) + 128)

/* "0a0b…" */
char *json_put_hex_bytes(char *out, const uint8_t *bytes, size_t size);
/* IPV4, IPV6, MAC, UUID or GUID as text, SOCKADDR as an object. */
char *json_put_net(char *out, enum trd_meaning meaning, const uint8_t *bytes, size_t size,
                   bool big_endian);

#endif
