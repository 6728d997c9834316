/*
 * What the daemon tells the profiler when it loads it: the class ids and the client data of the
 * diagnostics command AttachProfiler. The runtime hands client data over unaligned, valid only
 * during the call, and with a length nobody checked: hence the length and magic inside.
 *
 *   0        4         6      8            12            16           20
 *   | magic  | version | size | categories | total_bytes | ring_bytes | socket path, NUL |
 */
#ifndef TRD_PROTO_ATTACH_H
#define TRD_PROTO_ATTACH_H

#include <stddef.h>
#include <stdint.h>

#include "buffer.h"

/* The main profiler, and the one that leaves the main slot to somebody else (.NET 6 and later).
 * LoadAsNotificationOnly is asked before client data is known, so the class decides. */
#define TRD_CLSID_MAIN_TEXT "{8A1F5C3E-6B0D-4B7E-9C55-3D1E0F2A7B41}"
#define TRD_CLSID_NOTIFICATION_TEXT "{8A1F5C3F-6B0D-4B7E-9C55-3D1E0F2A7B41}"

/* As they lie in memory and in the AttachProfiler message. */
#define TRD_CLSID_MAIN_BYTES                                                                       \
    {                                                                                              \
        0x3e, 0x5c, 0x1f, 0x8a, 0x0d, 0x6b, 0x7e, 0x4b, 0x9c, 0x55, 0x3d, 0x1e, 0x0f, 0x2a, 0x7b,  \
            0x41                                                                                   \
    }
#define TRD_CLSID_NOTIFICATION_BYTES                                                               \
    {                                                                                              \
        0x3f, 0x5c, 0x1f, 0x8a, 0x0d, 0x6b, 0x7e, 0x4b, 0x9c, 0x55, 0x3d, 0x1e, 0x0f, 0x2a, 0x7b,  \
            0x41                                                                                   \
    }

/* Environment of a process that loads the profiler at start-up. */
#define TRD_ENV_SOCKET "TRACERD_SOCKET"       /* path of the daemon's profiler socket */
#define TRD_ENV_CATEGORIES "TRACERD_CLR"      /* gc,exception,…; absent = default */
#define TRD_ENV_LOG "TRACERD_LOG"             /* file for the profiler's own log; absent = silent */
#define TRD_ENV_PROVIDERS "TRACERD_PROVIDERS" /* of EventPipe, a list as in provider.h */
#define TRD_ENV_BUFFER "TRACERD_CLR_BUFFER"   /* memory of the rings, as in buffer.h */
#define TRD_ENV_STAMP "TRACERD_STAMP"         /* monotonic, or tsc where the kernel goes by it */
#define TRD_ENV_METHODS "TRACERD_METHODS"     /* patterns of methods to hook; absent = none */
#define TRD_ENV_ARGUMENTS "TRACERD_ARGUMENTS" /* 1: and what those are given and return */
#define TRD_ENV_FOLLOW "TRACERD_FOLLOW"       /* 1: children inherit all of this */
#define TRD_SENDER_NAME "tracerd-sender"      /* its thread, which shows that it is at work */
#define TRD_SOCKET_DEFAULT "/run/tracerd/profiler.sock"

#define TRD_ATTACH_MAGIC 0x41445254u /* "TRDA" */
#define TRD_ATTACH_VERSION 2
#define TRD_SOCKET_PATH_MAX 108 /* sun_path, NUL included */

struct trd_attach {
    uint32_t magic;
    uint16_t version;
    uint16_t size; /* of the whole, path and its NUL included */
    uint32_t categories;
    struct trd_buffer buffer; /* of a process that has no rings yet; zeroes: the profiler's own */
};

#define TRD_ATTACH_SIZE_MAX (sizeof(struct trd_attach) + TRD_SOCKET_PATH_MAX)

/* Bytes written to out (of TRD_ATTACH_SIZE_MAX); -ENAMETOOLONG. */
int trd_attach_encode(const char *socket_path, uint32_t categories, const struct trd_buffer *buffer,
                      uint8_t *out);
/* `path` has TRD_SOCKET_PATH_MAX bytes. -EBADMSG for anything else than trd_attach_encode writes.
 */
int trd_attach_decode(const uint8_t *bytes, size_t size, struct trd_attach *out, char *path);

#endif
