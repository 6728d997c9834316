/*
 * A client of the runtime's diagnostics socket (DOTNET_IPC_V1): as much of it as attaching and
 * doctor need. Messages are built whole and sent in one write, since runtimes crash on header-only
 * requests. Source: documentation/design-docs/ipc-protocol.md of dotnet/diagnostics.
 *
 *   0               14     16    17   18      20
 *   | DOTNET_IPC_V1\0 | size | set | id | zero | payload |
 */
#ifndef TRACERD_DAEMON_DOTNET_IPC_H
#define TRACERD_DAEMON_DOTNET_IPC_H

#include <stddef.h>
#include <stdint.h>

#define DOTNET_IPC_HEADER_SIZE 20
#define DOTNET_IPC_MESSAGE_MAX 65535 /* the size field has 16 bits */

/*
 * AttachProfiler: library path in the target's own view, class id, client data. Bytes written to
 * `out` (of DOTNET_IPC_MESSAGE_MAX), or -ENAMETOOLONG.
 */
int dotnet_ipc_build_attach(const uint8_t class_id[16], const char *library, const uint8_t *data,
                            size_t data_size, uint32_t timeout_ms, uint8_t *out);

/* 0 and the HRESULT (0 = OK) of a whole answer; -EAGAIN if bytes are missing; -EBADMSG. */
int dotnet_ipc_parse_answer(const uint8_t *bytes, size_t size, int32_t *out_hresult);

/* Connects, sends the message, waits for the answer. 0 and the HRESULT, or a negative errno. */
int dotnet_ipc_request(const char *socket_path, const uint8_t *message, size_t size, int timeout_ms,
                       int32_t *out_hresult);

/* The same with the whole answer, whose content is not looked at. Bytes of it, or a negative errno;
 * -EBADMSG if it says it is longer than `capacity`. */
int dotnet_ipc_exchange(const char *socket_path, const uint8_t *message, size_t size,
                        int timeout_ms, uint8_t *out, size_t capacity);

/* What the runtime says of itself to ProcessInfo2 (.NET 6 and later). */
struct dotnet_process_info {
    uint64_t pid; /* its own view */
    char architecture[16];
    char version[64]; /* "8.0.34", with a commit behind it or not */
};

/* A request without payload, which this command may have. */
int dotnet_ipc_build_process_info(uint8_t out[DOTNET_IPC_HEADER_SIZE]);
int dotnet_ipc_parse_process_info(const uint8_t *bytes, size_t size,
                                  struct dotnet_process_info *out);

#endif
