/* The socket that profilers connect to. Every connection becomes a source of its own. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "clr_source.h"
#include "listen.h"
#include "log.h"
#include "sources.h"
#include "stream_lines.h"

/*
 * How long after it was loaded a profiler may need to introduce itself: its first events are older
 * than its connection. Loading to connecting was measured at 1 to 3 ms; later ones are marked late.
 */
#define INTRODUCTION_GRACE_NS UINT64_C(30000000)
/* A program that was just started is waited for longer, in case it is a .NET one: on a busy machine
 * loading the runtime takes its time. */
#define AWAIT_NS UINT64_C(2000000000)

struct profiler_listener {
    struct pipeline *pipeline;
    const struct options *options;
    struct profiler_watch watch;
    uint64_t awaited_ns; /* since when somebody is expected; 0 = nobody is */
    struct listen_socket socket;
    /* Stands in the merge for processes that have not introduced themselves yet. */
    struct trd_merge_input input;
    bool closing;
};

static int next(struct trd_merge_input *input, struct trd_record *out)
{
    struct profiler_listener *listener =
        (struct profiler_listener *)((char *)input - offsetof(struct profiler_listener, input));

    uint64_t now_ns = clock_now_ns();

    (void)out;
    if (listener->closing)
        return 0;
    if (now_ns > listener->awaited_ns + AWAIT_NS)
        input->watermark_ns = now_ns - INTRODUCTION_GRACE_NS;
    return -EAGAIN;
}

void source_profilers_await(struct profiler_listener *listener)
{
    listener->awaited_ns = clock_now_ns();
    listener->input.watermark_ns = listener->awaited_ns;
}

/* Root, ourselves, or whom the socket was given to; anybody where its mode lets anybody in. */
static bool is_welcome(const struct profiler_listener *listener, const struct ucred *peer)
{
    struct stat file;

    if (peer->uid == 0 || peer->uid == geteuid())
        return true;
    return stat(listener->socket.path, &file) == 0 &&
           (peer->uid == file.st_uid || (file.st_mode & S_IWOTH));
}

static void on_connection(struct listen_socket *socket, int fd)
{
    struct profiler_listener *listener = socket->context;
    struct ucred peer = { 0 };
    socklen_t size = sizeof(peer);

    /* The pid that counts is the kernel's word, not the peer's. */
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.pid > 0 &&
        is_welcome(listener, &peer) &&
        clr_source_open(listener->pipeline, listener->options, fd, peer.pid,
                        listener->input.watermark_ns, &listener->watch) == 0) {
        listener->awaited_ns = 0;
        return;
    }
    log_notice("a connection to the profiler socket was refused: uid=%u, pid=%d", peer.uid,
               peer.pid);
    close(fd);
}

int source_profilers_listen(struct pipeline *pipeline, const struct options *options,
                            const char *path, unsigned mode, const struct profiler_watch *watch,
                            struct profiler_listener **out)
{
    struct profiler_listener *listener = calloc(1, sizeof(*listener));
    int result;

    if (!listener)
        return EXIT_NOTHING;
    listener->pipeline = pipeline;
    listener->options = options;
    listener->watch = *watch;
    result = listen_socket_open(&listener->socket, pipeline_loop(pipeline), path, mode,
                                on_connection, listener);
    if (result != 0) {
        log_error("cannot listen for profilers: path=%s, error=\"%s\"", path, strerror(-result));
        free(listener);
        return EXIT_NOTHING;
    }
    listener->input.next = next;
    (void)pipeline_add_input(pipeline, NULL, &listener->input);
    *out = listener;
    return 0;
}

static void on_closed(struct listen_socket *socket)
{
    free(socket->context);
}

void source_profilers_close(struct profiler_listener *listener)
{
    if (!listener)
        return;
    listen_socket_accept(&listener->socket);
    listener->closing = true;
    pipeline_remove_input(listener->pipeline, &listener->input);
    listen_socket_close(&listener->socket, on_closed);
}
