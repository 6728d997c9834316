/*
 * The wire format of protocol buffers, as far as a writer needs it: varints and length-delimited
 * parts in a buffer that grows. Without memory the buffer stops and says so at the end.
 */
#ifndef TRD_COMMON_PROTO_OUT_H
#define TRD_COMMON_PROTO_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct proto_out {
    uint8_t *bytes; /* owned */
    size_t size, capacity;
    bool failed; /* no memory: something is missing */
};

void proto_finish(struct proto_out *out);
void proto_clear(struct proto_out *out);
void proto_uint(struct proto_out *out, uint32_t field, uint64_t value);
/* int32 and int64: negative ones take ten bytes. */
void proto_int(struct proto_out *out, uint32_t field, int64_t value);
void proto_bytes(struct proto_out *out, uint32_t field, const void *bytes, size_t size);
void proto_text(struct proto_out *out, uint32_t field, const char *text);
void proto_fixed64(struct proto_out *out, uint32_t field, uint64_t value);
void proto_double(struct proto_out *out, uint32_t field, double value);
/* Ready fields. */
void proto_raw(struct proto_out *out, const void *bytes, size_t size);
/* A message within: returns where it began, for proto_end. Its size is written in four bytes, which
 * the format allows. */
size_t proto_begin(struct proto_out *out, uint32_t field);
void proto_end(struct proto_out *out, size_t begin);

#endif
