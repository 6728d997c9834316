#include "listen.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define BACKLOG 128

void listen_socket_accept(struct listen_socket *listening)
{
    int fd;

    while ((fd = accept4(listening->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0)
        listening->on_connection(listening, fd);
}

static void on_readable(uv_poll_t *poll, int status, int events)
{
    (void)events;
    if (status == 0)
        listen_socket_accept(poll->data);
}

static int is_answered(const struct sockaddr_un *address)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int answered = fd >= 0 && connect(fd, (const struct sockaddr *)address, sizeof(*address)) == 0;

    if (fd >= 0)
        close(fd);
    return answered;
}

static int bind_path(int fd, const char *path, unsigned mode)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };

    if (strlen(path) >= sizeof(address.sun_path))
        return -ENAMETOOLONG;
    strcpy(address.sun_path, path);
    if (is_answered(&address))
        return -EADDRINUSE;
    (void)unlink(path);
    if (bind(fd, (struct sockaddr *)&address, sizeof(address)) != 0 || chmod(path, mode) != 0 ||
        listen(fd, BACKLOG) != 0)
        return -errno;
    return 0;
}

int listen_socket_open(struct listen_socket *listening, uv_loop_t *loop, const char *path,
                       unsigned mode, void (*on_connection)(struct listen_socket *socket, int fd),
                       void *context)
{
    int result;

    listening->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (listening->fd < 0)
        return -errno;
    result = bind_path(listening->fd, path, mode);
    if (result == 0)
        result = uv_poll_init(loop, &listening->poll, listening->fd);
    if (result != 0) {
        close(listening->fd);
        return result;
    }
    strcpy(listening->path, path);
    listening->on_connection = on_connection;
    listening->context = context;
    listening->poll.data = listening;
    return uv_poll_start(&listening->poll, UV_READABLE, on_readable);
}

static void on_poll_closed(uv_handle_t *handle)
{
    struct listen_socket *listening = handle->data;

    listening->on_closed(listening);
}

void listen_socket_close(struct listen_socket *listening,
                         void (*on_closed)(struct listen_socket *socket))
{
    listening->on_closed = on_closed;
    (void)unlink(listening->path);
    uv_close((uv_handle_t *)&listening->poll, on_poll_closed);
    close(listening->fd);
}
