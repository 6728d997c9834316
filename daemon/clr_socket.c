#include "clr_socket.h"

#include <errno.h>
#include <linux/sockios.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

/* Room for two of the largest frames: one that is whole, the start of the next. */
#define INPUT_SIZE (2 * (TRD_FRAME_SIZE_MAX + sizeof(struct trd_frame_head)))
#define DESCRIPTORS_MAX 4 /* of one message; the kernel drops what is more */

int clr_socket_init(struct clr_socket *socket, int fd)
{
    *socket = (struct clr_socket){ .fd = fd, .descriptor = -1, .input = malloc(INPUT_SIZE) };
    return socket->input ? 0 : -ENOMEM;
}

void clr_socket_close(struct clr_socket *socket)
{
    if (socket->fd >= 0)
        close(socket->fd);
    if (socket->descriptor >= 0)
        close(socket->descriptor);
    socket->fd = socket->descriptor = -1;
}

void clr_socket_finish(struct clr_socket *socket)
{
    clr_socket_close(socket);
    free(socket->input);
}

static void take_descriptors(struct clr_socket *socket, struct msghdr *message)
{
    for (struct cmsghdr *control = CMSG_FIRSTHDR(message); control;
         control = CMSG_NXTHDR(message, control)) {
        if (control->cmsg_level != SOL_SOCKET || control->cmsg_type != SCM_RIGHTS)
            continue;
        for (size_t at = 0; CMSG_LEN(at + sizeof(int)) <= control->cmsg_len; at += sizeof(int)) {
            int fd;

            memcpy(&fd, CMSG_DATA(control) + at, sizeof(fd));
            if (socket->descriptor < 0)
                socket->descriptor = fd;
            else
                close(fd);
        }
    }
}

ssize_t clr_socket_receive(struct clr_socket *socket)
{
    union {
        struct cmsghdr head;
        uint8_t bytes[CMSG_SPACE(DESCRIPTORS_MAX * sizeof(int))];
    } control;
    struct iovec part;
    struct msghdr message = { .msg_iov = &part,
                              .msg_iovlen = 1,
                              .msg_control = &control,
                              .msg_controllen = sizeof(control) };
    ssize_t got;

    socket->size -= socket->at;
    memmove(socket->input, socket->input + socket->at, socket->size);
    socket->at = 0;
    part = (struct iovec){ socket->input + socket->size, INPUT_SIZE - socket->size };
    got = recvmsg(socket->fd, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (got < 0)
        return errno == EAGAIN || errno == EINTR ? 0 : -errno;
    take_descriptors(socket, &message);
    if (got == 0)
        return -ECONNRESET;
    socket->size += (size_t)got;
    return got;
}

int clr_socket_next(struct clr_socket *socket, struct trd_frame_head *out_head,
                    const uint8_t **out_payload)
{
    int result = trd_frame_next(socket->input + socket->at, socket->size - socket->at, out_head,
                                out_payload);

    if (result == 1)
        socket->at += sizeof(*out_head) + out_head->size;
    return result;
}

bool clr_socket_was_read(const struct clr_socket *socket)
{
    int unread = 0;

    return ioctl(socket->fd, SIOCOUTQ, &unread) == 0 && unread == 0;
}

int clr_socket_send(struct clr_socket *socket, enum trd_frame_type type, const void *payload,
                    size_t size)
{
    struct trd_frame_head head;
    struct iovec parts[2] = { { &head, sizeof(head) }, { (void *)(uintptr_t)payload, size } };
    struct msghdr message = { .msg_iov = parts, .msg_iovlen = size > 0 ? 2 : 1 };

    trd_frame_head_init(&head, type, (uint32_t)size);
    return sendmsg(socket->fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT) ==
                   (ssize_t)(sizeof(head) + size)
               ? 0
               : -EPIPE;
}
