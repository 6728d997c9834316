#include "flight_control.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "log.h"
#include "runtime_dir.h"

void flight_control_path(pid_t pid, char *out, size_t size)
{
    (void)snprintf(out, size, RUNTIME_DIR_DEFAULT "/flight-%d.sock", pid);
}

static void on_connection(struct listen_socket *socket, int fd)
{
    struct flight_control *control = socket->context;
    const char *answer = control->fire(control->context);

    (void)!write(fd, answer, strlen(answer)); /* who does not wait for it asked for none */
    close(fd);
}

bool flight_control_open(struct flight_control *control, uv_loop_t *loop, pid_t pid)
{
    char path[sizeof(control->socket.path)];
    int result;

    flight_control_path(pid, path, sizeof(path));
    (void)mkdir(RUNTIME_DIR_DEFAULT, 0755); /* the next call says it if it is not there */
    result = listen_socket_open(&control->socket, loop, path, 0600, on_connection, control);
    if (result == 0)
        return true;
    log_verbose("tracerd trigger will not find this recorder: path=%s, error=\"%s\"", path,
                strerror(-result));
    return false;
}

static void on_closed(struct listen_socket *socket)
{
    struct flight_control *control = socket->context;

    control->on_closed(control->context);
}

void flight_control_close(struct flight_control *control)
{
    listen_socket_close(&control->socket, on_closed);
}
