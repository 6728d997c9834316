/*
 * Consumers of the service. All of them are one sink: a batch is copied once and shared by all
 * their queues. A consumer that does not read fills its own queue and nothing else.
 */
#include <errno.h>
#include <grp.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "listen.h"
#include "log.h"
#include "sinks.h"

/* What one consumer may lag behind: some 150 000 events, a second of a busy machine. */
#define QUEUE_BYTES_MAX ((size_t)32 << 20)
/* A consumer that lost lines gets more only when it has caught up this far. */
#define QUEUE_BYTES_RESUME (QUEUE_BYTES_MAX / 2)
/* How long consumers may take to read the rest of a stream that has ended. */
#define END_WAIT_MS 1000
#define SOCKET_MODE 0660
#define SOCKET_GROUP "tracerd"

struct chunk {
    unsigned references;
    size_t size;
    char bytes[];
};

struct request {
    uv_write_t write;
    struct chunk *chunk;
    uint64_t lines; /* of the stream that are in it */
};

struct client {
    uv_pipe_t pipe;
    struct clients *clients;
    struct client *next;
    bool closing;
    uint64_t lost; /* lines, since the queue was full */
    uint64_t lost_seq, lost_from_ns, lost_to_ns;
};

struct clients {
    struct sink sink;
    struct listen_socket socket;
    struct client *list;
    unsigned count;
    unsigned max;
    bool listening;
    bool ending;
    uv_timer_t patience;
    /* Lines for all of them together, those who left as well: to send, in queues, sent. */
    uint64_t owed, waiting, written;
};

static void release(struct chunk *chunk)
{
    if (--chunk->references == 0)
        free(chunk);
}

static struct chunk *make_chunk(const char *bytes, size_t size)
{
    struct chunk *chunk = malloc(sizeof(*chunk) + size);

    if (!chunk)
        return NULL;
    chunk->references = 1;
    chunk->size = size;
    memcpy(chunk->bytes, bytes, size);
    return chunk;
}

/* The end of all consumers */

static void on_sink_gone(uv_handle_t *handle)
{
    struct clients *clients = handle->data;

    pipeline_sink_closed(clients->sink.pipeline, &clients->sink);
    free(clients);
}

static void finish_if_done(struct clients *clients)
{
    if (clients->ending && !clients->listening && !clients->list &&
        !uv_is_closing((uv_handle_t *)&clients->patience))
        uv_close((uv_handle_t *)&clients->patience, on_sink_gone);
}

/* One consumer */

static void on_client_closed(uv_handle_t *handle)
{
    struct client *client = handle->data;
    struct clients *clients = client->clients;

    for (struct client **link = &clients->list; *link; link = &(*link)->next)
        if (*link == client) {
            *link = client->next;
            break;
        }
    clients->count--;
    free(client);
    finish_if_done(clients);
}

static void close_client(struct client *client)
{
    if (client->closing)
        return;
    client->closing = true;
    uv_close((uv_handle_t *)&client->pipe, on_client_closed);
}

static size_t queued(const struct client *client)
{
    return uv_stream_get_write_queue_size((const uv_stream_t *)&client->pipe);
}

static void tell_loss(struct client *client);

static void on_written(uv_write_t *write, int status)
{
    struct client *client = write->handle->data;
    struct request *request = (struct request *)write;

    client->clients->waiting -= request->lines;
    if (status == 0)
        client->clients->written += request->lines;
    release(request->chunk);
    free(request);
    if (status < 0)
        close_client(client);
    if (client->closing)
        return;
    if (client->lost > 0 && queued(client) <= QUEUE_BYTES_RESUME)
        tell_loss(client);
    if (client->clients->ending && queued(client) == 0)
        close_client(client);
}

static void send_chunk(struct client *client, struct chunk *chunk, uint64_t lines)
{
    struct request *request = malloc(sizeof(*request));
    uv_buf_t buffer = uv_buf_init(chunk->bytes, (unsigned)chunk->size);

    if (!request) {
        close_client(client);
        return;
    }
    request->chunk = chunk;
    request->lines = lines;
    chunk->references++;
    if (uv_write(&request->write, (uv_stream_t *)&client->pipe, &buffer, 1, on_written) != 0) {
        release(chunk);
        free(request);
        close_client(client);
        return;
    }
    client->clients->waiting += lines;
}

/* The line that stands for those the consumer did not get; its number is that of the last one. */
static void tell_loss(struct client *client)
{
    char line[256];
    int size = snprintf(line, sizeof(line),
                        "{\"v\":1,\"k\":\"lost\",\"seq\":%" PRIu64
                        ",\"src\":\"tracerd\",\"stream\":\"client\",\"from\":\"%" PRIu64
                        "\",\"to\":\"%" PRIu64 "\",\"n\":%" PRIu64 "}\n",
                        client->lost_seq, client->lost_from_ns, client->lost_to_ns, client->lost);
    struct chunk *chunk = make_chunk(line, (size_t)size);

    client->lost = 0;
    if (!chunk) {
        close_client(client);
        return;
    }
    send_chunk(client, chunk, 0);
    release(chunk);
}

static void lose(struct client *client, const struct line_batch *batch)
{
    if (client->lost == 0)
        client->lost_from_ns = batch->first_ns;
    client->lost += batch->count;
    client->lost_seq = batch->last_seq;
    client->lost_to_ns = batch->last_ns;
}

static void lines(struct sink *sink, const struct line_batch *batch)
{
    struct clients *clients = (struct clients *)sink;
    struct chunk *chunk = clients->list ? make_chunk(batch->bytes, batch->size) : NULL;

    for (struct client *client = clients->list; client; client = client->next) {
        if (client->closing)
            continue;
        clients->owed += batch->count;
        /* Once something is lost, the rest waits for the line that says so. */
        if (!chunk || client->lost > 0 || queued(client) + batch->size > QUEUE_BYTES_MAX)
            lose(client, batch);
        else
            send_chunk(client, chunk, batch->count);
    }
    if (chunk)
        release(chunk);
}

static void greet(struct client *client)
{
    char *hello = pipeline_hello(client->clients->sink.pipeline);
    struct chunk *chunk = hello ? make_chunk(hello, strlen(hello)) : NULL;

    free(hello);
    if (!chunk) {
        close_client(client);
        return;
    }
    send_chunk(client, chunk, 0);
    release(chunk);
}

static void on_connection(struct listen_socket *socket, int fd)
{
    struct clients *clients = socket->context;
    struct client *client = NULL;

    if (clients->count < clients->max)
        client = calloc(1, sizeof(*client));
    if (!client) {
        log_notice("a consumer was turned away: connected=%u, clients_max=%u", clients->count,
                   clients->max);
        close(fd);
        return;
    }
    client->clients = clients;
    client->next = clients->list;
    clients->list = client;
    clients->count++;
    uv_pipe_init(pipeline_loop(clients->sink.pipeline), &client->pipe, 0);
    client->pipe.data = client;
    if (uv_pipe_open(&client->pipe, fd) != 0) {
        close(fd);
        close_client(client);
        return;
    }
    /* Before the stream has begun, its own `hello` is still to come. */
    if (pipeline_has_begun(clients->sink.pipeline))
        greet(client);
}

/* A consumer is owed each line since it came; what waits in its queue is not lost yet. */
static void account(const struct sink *sink, struct ledger *out)
{
    const struct clients *clients = (const struct clients *)sink;

    out->produced = clients->owed;
    out->delivered = clients->written + clients->waiting;
    out->lost = out->produced - out->delivered;
}

/* The end of the stream */

static void on_patience_over(uv_timer_t *timer)
{
    struct clients *clients = timer->data;

    for (struct client *client = clients->list; client; client = client->next)
        close_client(client);
}

static void on_socket_closed(struct listen_socket *socket)
{
    struct clients *clients = socket->context;

    clients->listening = false;
    finish_if_done(clients);
}

static void end(struct sink *sink)
{
    struct clients *clients = (struct clients *)sink;

    clients->ending = true;
    listen_socket_close(&clients->socket, on_socket_closed);
    for (struct client *client = clients->list; client; client = client->next)
        if (queued(client) == 0)
            close_client(client);
    uv_timer_start(&clients->patience, on_patience_over, END_WAIT_MS, 0);
}

/* Members of the group may read along, if the machine has one. */
static void admit_group(const char *path)
{
    const struct group *group = getgrnam(SOCKET_GROUP);

    if (group && chown(path, (uid_t)-1, group->gr_gid) != 0)
        log_notice("the consumers' socket stays with root: path=%s, group=%s, error=\"%s\"", path,
                   SOCKET_GROUP, strerror(errno));
}

int sink_clients_listen(struct pipeline *pipeline, const char *path, unsigned clients_max)
{
    struct clients *clients = calloc(1, sizeof(*clients));
    int result = -ENOMEM;

    if (clients)
        result = listen_socket_open(&clients->socket, pipeline_loop(pipeline), path, SOCKET_MODE,
                                    on_connection, clients);
    if (result == -EADDRINUSE) {
        log_error("a service runs already: path=%s", path);
        free(clients);
        return EXIT_NOTHING;
    }
    if (result != 0) {
        log_error("cannot listen for consumers: path=%s, error=\"%s\"", path, strerror(-result));
        free(clients);
        return EXIT_NOTHING;
    }
    admit_group(path);
    clients->listening = true;
    clients->max = clients_max;
    clients->sink.name = "consumers";
    clients->sink.account = account;
    clients->sink.lines = lines;
    clients->sink.end = end;
    uv_timer_init(pipeline_loop(pipeline), &clients->patience);
    clients->patience.data = clients;
    pipeline_add_sink(pipeline, &clients->sink);
    return 0;
}
