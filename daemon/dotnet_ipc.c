#include "dotnet_ipc.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#define HEADER_SIZE DOTNET_IPC_HEADER_SIZE
#define SET_PROFILER 0x03
#define COMMAND_ATTACH 0x01
#define SET_PROCESS 0x04
#define COMMAND_PROCESS_INFO_2 0x04
#define SET_SERVER 0xff
#define ANSWER_OK 0x00
#define ANSWER_ERROR 0xff
#define ANSWER_MAX 256 /* an answer without data has 24 bytes */

static const char magic[14] = "DOTNET_IPC_V1";

struct message {
    uint8_t *bytes;
    size_t size;
    int failed;
};

static void put(struct message *message, const void *bytes, size_t size)
{
    if (size > DOTNET_IPC_MESSAGE_MAX - message->size) {
        message->failed = 1;
        return;
    }
    if (size > 0)
        memcpy(message->bytes + message->size, bytes, size);
    message->size += size;
}

static void put_u32(struct message *message, uint32_t value)
{
    put(message, &value, sizeof(value));
}

/* u32 count of UTF-16 units with the NUL, then the units; UTF-8 in, well-formed or byte by byte. */
static void put_string(struct message *message, const char *text)
{
    const uint8_t *at = (const uint8_t *)text;
    size_t count_at = message->size;
    uint32_t count = 1;
    uint16_t unit = 0;

    put_u32(message, 0);
    while (*at) {
        uint32_t code = *at;
        int more = code >= 0xf0 ? 3 : code >= 0xe0 ? 2 : code >= 0xc0 ? 1 : 0;

        code = more ? code & (0x3fu >> more) : code;
        for (at++; more > 0 && (*at & 0xc0) == 0x80; more--)
            code = code << 6 | (*at++ & 0x3f);
        if (code >= 0x10000) {
            unit = (uint16_t)(0xd800 + ((code - 0x10000) >> 10));
            put(message, &unit, sizeof(unit));
            count++;
            code = 0xdc00 + ((code - 0x10000) & 0x3ff);
        }
        unit = (uint16_t)code;
        put(message, &unit, sizeof(unit));
        count++;
    }
    unit = 0;
    put(message, &unit, sizeof(unit));
    if (!message->failed)
        memcpy(message->bytes + count_at, &count, sizeof(count));
}

int dotnet_ipc_build_attach(const uint8_t class_id[16], const char *library, const uint8_t *data,
                            size_t data_size, uint32_t timeout_ms, uint8_t *out)
{
    struct message message = { .bytes = out };
    uint8_t header[HEADER_SIZE] = { 0 };
    uint16_t size;

    memcpy(header, magic, sizeof(magic));
    header[16] = SET_PROFILER;
    header[17] = COMMAND_ATTACH;
    put(&message, header, sizeof(header));
    put_u32(&message, timeout_ms);
    put(&message, class_id, 16);
    put_string(&message, library);
    put_u32(&message, (uint32_t)data_size);
    put(&message, data, data_size);
    if (message.failed)
        return -ENAMETOOLONG;
    size = (uint16_t)message.size;
    memcpy(out + 14, &size, sizeof(size));
    return (int)message.size;
}

int dotnet_ipc_parse_answer(const uint8_t *bytes, size_t size, int32_t *out_hresult)
{
    uint16_t total;
    int32_t hresult = 0;

    if (size < HEADER_SIZE)
        return -EAGAIN;
    memcpy(&total, bytes + 14, sizeof(total));
    if (memcmp(bytes, magic, sizeof(magic)) != 0 || total < HEADER_SIZE ||
        bytes[16] != SET_SERVER || (bytes[17] != ANSWER_OK && bytes[17] != ANSWER_ERROR))
        return -EBADMSG;
    if (size < total)
        return -EAGAIN;
    if (total >= HEADER_SIZE + sizeof(hresult))
        memcpy(&hresult, bytes + HEADER_SIZE, sizeof(hresult));
    else if (bytes[17] == ANSWER_ERROR)
        return -EBADMSG;
    /* An OK with a result below zero is no OK. */
    *out_hresult = bytes[17] == ANSWER_OK && hresult > 0 ? 0 : hresult;
    return 0;
}

/* A server whose queue is full would keep us waiting: the time to send bounds connecting too. */
static int connect_to(const char *path, int timeout_ms)
{
    const struct timeval timeout = { timeout_ms / 1000, timeout_ms % 1000 * 1000 };
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    int fd;

    if (strlen(path) >= sizeof(address.sun_path))
        return -ENAMETOOLONG;
    strcpy(address.sun_path, path);
    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -errno;
    (void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof(timeout));
    if (connect(fd, (struct sockaddr *)&address, sizeof(address)) != 0) {
        int error = errno;

        close(fd);
        return -error;
    }
    return fd;
}

/* Bytes read; -ETIMEDOUT, -ECONNRESET at the end, or another negative errno. */
static ssize_t receive(int fd, uint8_t *out, size_t size, int timeout_ms)
{
    struct pollfd ready = { .fd = fd, .events = POLLIN };
    int polled;
    ssize_t got;

    do
        polled = poll(&ready, 1, timeout_ms);
    while (polled < 0 && errno == EINTR);
    if (polled <= 0)
        return polled == 0 ? -ETIMEDOUT : -errno;
    got = recv(fd, out, size, 0);
    return got > 0 ? got : got == 0 ? -ECONNRESET : -errno;
}

/* A whole answer, as far as its own size says. Bytes read, or a negative errno. */
static int await_answer(int fd, int timeout_ms, uint8_t *out, size_t capacity)
{
    size_t size = 0, wanted = HEADER_SIZE;

    while (size < wanted) {
        ssize_t got = receive(fd, out + size, wanted - size, timeout_ms);
        uint16_t total;

        if (got < 0)
            return (int)got;
        size += (size_t)got;
        if (size < HEADER_SIZE || wanted > HEADER_SIZE)
            continue;
        memcpy(&total, out + 14, sizeof(total));
        if (total < HEADER_SIZE || total > capacity)
            return -EBADMSG;
        wanted = total;
    }
    return (int)size;
}

int dotnet_ipc_exchange(const char *socket_path, const uint8_t *message, size_t size,
                        int timeout_ms, uint8_t *out, size_t capacity)
{
    int fd = connect_to(socket_path, timeout_ms);
    ssize_t sent;
    int result;

    if (fd < 0)
        return fd == -EAGAIN ? -ETIMEDOUT : fd;
    sent = send(fd, message, size, MSG_NOSIGNAL);
    if (sent == (ssize_t)size)
        result = await_answer(fd, timeout_ms, out, capacity);
    else
        result = sent < 0 && errno != EAGAIN ? -errno : -ETIMEDOUT;
    close(fd);
    return result;
}

int dotnet_ipc_request(const char *socket_path, const uint8_t *message, size_t size, int timeout_ms,
                       int32_t *out_hresult)
{
    uint8_t answer[ANSWER_MAX];
    int result =
        dotnet_ipc_exchange(socket_path, message, size, timeout_ms, answer, sizeof(answer));

    if (result < 0)
        return result;
    result = dotnet_ipc_parse_answer(answer, (size_t)result, out_hresult);
    return result == -EAGAIN ? -EBADMSG : result;
}

int dotnet_ipc_build_process_info(uint8_t out[DOTNET_IPC_HEADER_SIZE])
{
    const uint16_t size = HEADER_SIZE;

    memset(out, 0, HEADER_SIZE);
    memcpy(out, magic, sizeof(magic));
    memcpy(out + 14, &size, sizeof(size));
    out[16] = SET_PROCESS;
    out[17] = COMMAND_PROCESS_INFO_2;
    return HEADER_SIZE;
}

/* A string's units at *at, made ASCII: versions and architectures are. */
static int take_string(const uint8_t *bytes, size_t size, size_t *at, char *out, size_t out_size)
{
    uint32_t count;

    if (size - *at < sizeof(count))
        return -EBADMSG;
    memcpy(&count, bytes + *at, sizeof(count));
    *at += sizeof(count);
    if (count > (size - *at) / 2)
        return -EBADMSG;
    for (uint32_t i = 0; i < count && i + 1 < out_size; i++, out++) {
        const uint8_t *unit = bytes + *at + (size_t)i * 2;

        *out = unit[1] == 0 && unit[0] < 0x80 ? (char)unit[0] : '?';
    }
    if (out_size > 0)
        *out = '\0';
    *at += (size_t)count * 2;
    return 0;
}

int dotnet_ipc_parse_process_info(const uint8_t *bytes, size_t size,
                                  struct dotnet_process_info *out)
{
    struct dotnet_process_info info = { 0 };
    size_t at = HEADER_SIZE + sizeof(info.pid) + 16; /* behind the cookie */
    char skipped[1];

    if (size < at || memcmp(bytes, magic, sizeof(magic)) != 0 || bytes[16] != SET_SERVER ||
        bytes[17] != ANSWER_OK)
        return -EBADMSG;
    memcpy(&info.pid, bytes + HEADER_SIZE, sizeof(info.pid));
    if (take_string(bytes, size, &at, skipped, sizeof(skipped)) != 0 || /* command line */
        take_string(bytes, size, &at, skipped, sizeof(skipped)) != 0 || /* system */
        take_string(bytes, size, &at, info.architecture, sizeof(info.architecture)) != 0 ||
        take_string(bytes, size, &at, skipped, sizeof(skipped)) != 0 || /* entry assembly */
        take_string(bytes, size, &at, info.version, sizeof(info.version)) != 0)
        return -EBADMSG;
    *out = info;
    return 0;
}
