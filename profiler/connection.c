#include "connection.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

#define WELCOME_TIMEOUT_MS 2000
#define WAIT_SLICE_MS 50

static int check_peer(int fd)
{
    struct ucred peer;
    socklen_t size = sizeof(peer);

    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0)
        return -errno;
    return peer.uid == 0 || peer.uid == geteuid() ? 0 : -EPERM;
}

int connection_open(struct connection *connection, const char *path, const _Atomic int *wish)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    int result;

    if (strlen(path) >= sizeof(address.sun_path))
        return -ENAMETOOLONG;
    strcpy(address.sun_path, path);
    connection->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (connection->fd < 0)
        return -errno;
    connection->wish = wish;
    connection->input_size = 0;
    /* A local stream socket connects at once or not at all. */
    if (connect(connection->fd, (struct sockaddr *)&address, sizeof(address)) != 0)
        result = -errno;
    else
        result = check_peer(connection->fd);
    if (result != 0)
        connection_close(connection);
    return result;
}

void connection_close(struct connection *connection)
{
    if (connection->fd >= 0)
        close(connection->fd);
    connection->fd = -1;
}

/* The peer's buffer is full. With a wish to finish there is one more slice, for the last words. */
static int wait_writable(struct connection *connection, int *slices_left)
{
    struct pollfd fd = { .fd = connection->fd, .events = POLLOUT };

    if (atomic_load(connection->wish) != 0 && (*slices_left)-- <= 0)
        return -ETIMEDOUT;
    if (poll(&fd, 1, WAIT_SLICE_MS) < 0 && errno != EINTR)
        return -errno;
    return 0;
}

static int send_all(struct connection *connection, struct msghdr *message)
{
    int slices_left = 1;

    while (message->msg_iovlen > 0) {
        ssize_t sent = sendmsg(connection->fd, message, MSG_NOSIGNAL | MSG_DONTWAIT);

        if (sent < 0) {
            int result = errno == EAGAIN ? wait_writable(connection, &slices_left) : -errno;

            if (result != 0 && result != -EINTR)
                return result;
            continue;
        }
        message->msg_control = NULL;
        message->msg_controllen = 0;
        while (message->msg_iovlen > 0 && (size_t)sent >= message->msg_iov->iov_len) {
            sent -= (ssize_t)message->msg_iov->iov_len;
            message->msg_iov++;
            message->msg_iovlen--;
        }
        if (message->msg_iovlen > 0) {
            message->msg_iov->iov_base = (uint8_t *)message->msg_iov->iov_base + sent;
            message->msg_iov->iov_len -= (size_t)sent;
        }
    }
    return 0;
}

int connection_send(struct connection *connection, enum trd_frame_type type, const void *first,
                    size_t first_size, const void *second, size_t second_size)
{
    struct trd_frame_head head;
    struct iovec parts[3] = { { &head, sizeof(head) },
                              { (void *)(uintptr_t)first, first_size },
                              { (void *)(uintptr_t)second, second_size } };
    struct msghdr message = { .msg_iov = parts, .msg_iovlen = second_size > 0 ? 3 : 2 };

    trd_frame_head_init(&head, type, (uint32_t)(first_size + second_size));
    return send_all(connection, &message);
}

static int send_hello(struct connection *connection, const struct trd_hello *hello, int arena_fd)
{
    uint32_t size = hello->clock == TRD_CLOCK_TSC ? sizeof(*hello) : TRD_HELLO_SIZE_MIN;
    union {
        struct cmsghdr head;
        uint8_t bytes[CMSG_SPACE(sizeof(int))];
    } control = { 0 };
    struct trd_frame_head head;
    struct iovec parts[2] = { { &head, sizeof(head) }, { (void *)(uintptr_t)hello, size } };
    struct msghdr message = { .msg_iov = parts,
                              .msg_iovlen = 2,
                              .msg_control = &control,
                              .msg_controllen = sizeof(control) };

    trd_frame_head_init(&head, TRD_FRAME_HELLO, size);
    control.head.cmsg_level = SOL_SOCKET;
    control.head.cmsg_type = SCM_RIGHTS;
    control.head.cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(&control.head), &arena_fd, sizeof(int));
    return send_all(connection, &message);
}

/* 1 = some bytes came, 0 = none now. */
static int receive(struct connection *connection)
{
    ssize_t got = recv(connection->fd, connection->input + connection->input_size,
                       sizeof(connection->input) - connection->input_size, MSG_DONTWAIT);

    if (got < 0)
        return errno == EAGAIN || errno == EINTR ? 0 : -errno;
    if (got == 0)
        return -ECONNRESET;
    connection->input_size += (size_t)got;
    return 1;
}

/* The first `size` bytes of input have been dealt with. */
static void consume(struct connection *connection, size_t size)
{
    memmove(connection->input, connection->input + size, connection->input_size - size);
    connection->input_size -= size;
}

int connection_greet(struct connection *connection, const struct trd_hello *hello, int arena_fd,
                     struct trd_welcome *out)
{
    struct pollfd fd = { .fd = connection->fd, .events = POLLIN };
    struct trd_frame_head head;
    const uint8_t *payload;
    int result = send_hello(connection, hello, arena_fd);

    for (int waited = 0; result == 0 && waited < WELCOME_TIMEOUT_MS; waited += WAIT_SLICE_MS) {
        if (atomic_load(connection->wish) != 0 && waited > 0)
            return -ECANCELED;
        (void)poll(&fd, 1, WAIT_SLICE_MS);
        result = receive(connection);
        if (result < 0)
            return result;
        result = trd_frame_next(connection->input, connection->input_size, &head, &payload);
        if (result == 1) {
            result = head.type == TRD_FRAME_WELCOME ? trd_frame_welcome(payload, head.size, out)
                                                    : -EBADMSG;
            consume(connection, sizeof(head) + head.size);
            return result;
        }
    }
    return result ? result : -ETIMEDOUT;
}

int connection_receive(struct connection *connection,
                       int (*obey)(const struct trd_frame_head *head, const uint8_t *payload))
{
    struct trd_frame_head head;
    const uint8_t *payload;
    int result = receive(connection);

    if (result < 0)
        return result;
    /* Also when nothing came: a frame may have come together with WELCOME. */
    while ((result = trd_frame_next(connection->input, connection->input_size, &head, &payload)) ==
           1) {
        result = obey(&head, payload);
        if (result != 0)
            return result;
        consume(connection, sizeof(head) + head.size);
    }
    if (result == 0 && connection->input_size == sizeof(connection->input))
        return -EBADMSG; /* nothing the daemon says is that long */
    return result;
}
