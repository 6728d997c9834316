#include "reader.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define INPUT_MAX (TRD_FRAME_SIZE_MAX + sizeof(struct trd_frame_head))

int reader_listen(const char *path)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd < 0 || strlen(path) >= sizeof(address.sun_path))
        return -1;
    strcpy(address.sun_path, path);
    (void)unlink(path);
    if (bind(fd, (struct sockaddr *)&address, sizeof(address)) != 0 || listen(fd, 16) != 0) {
        close(fd);
        return -1;
    }
    return fd;
}

static void take_descriptor(struct reader *reader, struct msghdr *message)
{
    struct cmsghdr *control = CMSG_FIRSTHDR(message);

    if (control && control->cmsg_level == SOL_SOCKET && control->cmsg_type == SCM_RIGHTS)
        memcpy(&reader->arena_fd, CMSG_DATA(control), sizeof(int));
}

/* Like read(2), with a limit to the wait. */
static ssize_t receive(struct reader *reader, int timeout_ms)
{
    union {
        struct cmsghdr head;
        uint8_t bytes[CMSG_SPACE(sizeof(int))];
    } control;
    struct iovec part = { reader->input + reader->input_size, INPUT_MAX - reader->input_size };
    struct msghdr message = { .msg_iov = &part,
                              .msg_iovlen = 1,
                              .msg_control = &control,
                              .msg_controllen = sizeof(control) };
    struct pollfd fd = { .fd = reader->fd, .events = POLLIN };
    int ready = poll(&fd, 1, timeout_ms);
    ssize_t got;

    if (ready <= 0)
        return ready == 0 ? -ETIMEDOUT : -errno;
    got = recvmsg(reader->fd, &message, MSG_CMSG_CLOEXEC);
    if (got > 0) {
        take_descriptor(reader, &message);
        reader->input_size += (size_t)got;
    }
    return got < 0 ? -errno : got;
}

static int check_position(struct reader *reader, const struct reader_frame *frame)
{
    struct trd_batch batch;
    const uint8_t *records;
    size_t size;

    if (trd_frame_batch(frame->payload, frame->head.size, &batch, &records, &size) != 0 ||
        batch.ring >= reader->hello.ring_count)
        return -EBADMSG;
    if (reader->seen[batch.ring] && batch.position != reader->positions[batch.ring])
        return -EBADMSG;
    reader->seen[batch.ring] = true;
    reader->positions[batch.ring] = batch.position + size;
    return 1;
}

static int note_lost(struct reader *reader, const struct reader_frame *frame)
{
    struct trd_ring_lost lost;

    if (trd_frame_ring_lost(frame->payload, frame->head.size, &lost) != 0 ||
        lost.ring >= reader->hello.ring_count)
        return -EBADMSG;
    reader->last_lost[lost.ring] = lost;
    return 1;
}

int reader_next(struct reader *reader, struct reader_frame *out, int timeout_ms)
{
    int result;

    memmove(reader->input, reader->input + reader->taken, reader->input_size - reader->taken);
    reader->input_size -= reader->taken;
    reader->taken = 0;
    while ((result = trd_frame_next(reader->input, reader->input_size, &out->head,
                                    &out->payload)) == 0) {
        ssize_t got = receive(reader, timeout_ms);

        if (got <= 0)
            return (int)got;
    }
    if (result < 0)
        return result;
    reader->taken = sizeof(out->head) + out->head.size;
    if (out->head.type == TRD_FRAME_LOST)
        return note_lost(reader, out);
    return out->head.type == TRD_FRAME_BATCH ? check_position(reader, out) : 1;
}

static int map_arena(struct reader *reader)
{
    struct stat status;
    void *memory;

    reader->arena_size = trd_arena_size(reader->hello.ring_size, reader->hello.ring_count);
    if (fstat(reader->arena_fd, &status) != 0 || (size_t)status.st_size < reader->arena_size)
        return -EBADMSG;
    memory = mmap(NULL, reader->arena_size, PROT_READ, MAP_SHARED, reader->arena_fd, 0);
    if (memory == MAP_FAILED)
        return -errno;
    reader->arena = memory;
    reader->positions = calloc(reader->hello.ring_count, sizeof(reader->positions[0]));
    reader->seen = calloc(reader->hello.ring_count, sizeof(reader->seen[0]));
    reader->last_lost = calloc(reader->hello.ring_count, sizeof(reader->last_lost[0]));
    return reader->positions && reader->seen && reader->last_lost ? 0 : -ENOMEM;
}

int reader_greet(struct reader *reader, int fd, int timeout_ms)
{
    struct ucred peer;
    socklen_t size = sizeof(peer);
    struct reader_frame frame;
    int result;

    *reader = (struct reader){ .fd = fd, .arena_fd = -1, .input = malloc(INPUT_MAX) };
    if (!reader->input || getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0)
        return -errno;
    reader->peer = peer.pid;
    result = reader_next(reader, &frame, timeout_ms);
    if (result != 1)
        return result ? result : -ECONNRESET;
    if (frame.head.type != TRD_FRAME_HELLO || reader->arena_fd < 0)
        return -EBADMSG;
    result = trd_frame_hello(frame.payload, frame.head.size, &reader->hello);
    return result ? result : map_arena(reader);
}

int reader_accept(struct reader *reader, int listener, int timeout_ms)
{
    struct pollfd fd = { .fd = listener, .events = POLLIN };
    int connection;

    *reader = (struct reader){ .fd = -1, .arena_fd = -1 };
    if (poll(&fd, 1, timeout_ms) <= 0)
        return -ETIMEDOUT;
    connection = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    return connection < 0 ? -errno : reader_greet(reader, connection, timeout_ms);
}

int reader_send(struct reader *reader, enum trd_frame_type type, const void *payload, size_t size)
{
    struct trd_frame_head head;
    uint8_t bytes[64];

    trd_frame_head_init(&head, type, (uint32_t)size);
    memcpy(bytes, &head, sizeof(head));
    if (size > 0)
        memcpy(bytes + sizeof(head), payload, size);
    return send(reader->fd, bytes, sizeof(head) + size, MSG_NOSIGNAL) < 0 ? -errno : 0;
}

static int welcome(struct reader *reader, uint16_t flags, uint32_t categories,
                   uint32_t mark_interval_ms)
{
    struct trd_welcome welcome = { .magic = TRD_PROTOCOL_MAGIC,
                                   .version = TRD_PROTOCOL_VERSION,
                                   .flags = flags,
                                   .categories = categories,
                                   .mark_interval_ms = mark_interval_ms };

    return reader_send(reader, TRD_FRAME_WELCOME, &welcome, sizeof(welcome));
}

int reader_welcome(struct reader *reader, uint32_t categories, uint32_t mark_interval_ms)
{
    return welcome(reader, 0, categories, mark_interval_ms);
}

int reader_welcome_looking(struct reader *reader, uint32_t categories)
{
    return welcome(reader, TRD_WELCOME_F_LOOKS, categories, 1);
}

int reader_event_next(const uint8_t **at, size_t *left, struct reader_event *out)
{
    int result;

    if (*left == 0)
        return 0;
    result = trd_event_check(*at, *left, &out->head);
    if (result < 0)
        return result;
    out->info = result == 1 ? trd_event_find(out->head.id) : NULL;
    out->fixed = *at + sizeof(out->head);
    *at += out->head.size;
    *left -= out->head.size;
    return 1;
}

/* By PROTOCOL.md: in the last window that begins at the position or before it. */
static const uint8_t *byte_at(struct trd_ring *ring, uint64_t position)
{
    uint32_t window = ring->window;
    uint64_t size;

    while (window > 0 && ring->window_from[window] > position)
        window--;
    size = UINT64_C(16384) << window;
    return (const uint8_t *)ring + size + position % size;
}

static int drain_ring(struct reader *reader, uint32_t index, uint8_t *copy,
                      void (*each)(void *context, uint32_t tid, const struct reader_event *event),
                      void *context)
{
    struct trd_ring *ring = trd_arena_ring(reader->arena, reader->hello.ring_size, index);
    uint64_t head = ring->head;
    uint64_t from = reader->seen[index] && reader->positions[index] > ring->tail
                        ? reader->positions[index]
                        : ring->tail;
    struct reader_event event;
    const uint8_t *at = copy;
    size_t left;
    int result;

    if (from > head || head - from > 2 * (uint64_t)reader->hello.ring_size)
        return -EBADMSG;
    for (uint64_t i = from; i < head; i++)
        copy[i - from] = *byte_at(ring, i);
    left = head - from;
    while ((result = reader_event_next(&at, &left, &event)) == 1)
        each(context, ring->tid, &event);
    return result;
}

int reader_drain(struct reader *reader,
                 void (*each)(void *context, uint32_t tid, const struct reader_event *event),
                 void *context)
{
    uint32_t used = atomic_load(&reader->arena->ring_used);
    uint8_t *copy = malloc(2 * (size_t)reader->hello.ring_size);
    int result = copy ? 0 : -ENOMEM;

    for (uint32_t i = 0; result == 0 && i < used && i < reader->hello.ring_count; i++)
        result = drain_ring(reader, i, copy, each, context);
    free(copy);
    return result;
}

uint64_t reader_untold(struct reader *reader)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < atomic_load(&reader->arena->ring_used); i++) {
        struct trd_ring *ring = trd_arena_ring(reader->arena, reader->hello.ring_size, i);
        uint64_t untold = ring->untold;

        /* It died with a LOST in hand: which we have, if that one goes beyond what it noted. */
        if (untold & TRD_RING_TELLING && reader->last_lost[i].told > ring->told)
            untold -= reader->last_lost[i].count;
        sum += untold & ~TRD_RING_TELLING;
    }
    return sum;
}

void reader_finish(struct reader *reader)
{
    if (reader->arena)
        munmap(reader->arena, reader->arena_size);
    if (reader->arena_fd >= 0)
        close(reader->arena_fd);
    if (reader->fd >= 0)
        close(reader->fd);
    free(reader->positions);
    free(reader->seen);
    free(reader->last_lost);
    free(reader->input);
    *reader = (struct reader){ .fd = -1, .arena_fd = -1 };
}
