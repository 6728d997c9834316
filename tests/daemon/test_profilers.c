/*
 * The profiler socket with a pipeline behind it and clients made by hand in front: child processes
 * that tell the whole story, die in the middle of it, or lie.
 */
#include <errno.h>
#include <jansson.h>
#include <linux/membarrier.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "capture.h"
#include "frame.h"
#include "ring_maker.h"
#include "sources.h"

#define RING_SIZE TRD_RING_SIZE_MIN
#define CLIENTS_MAX 4
#define GIVE_UP_MS 30000

struct world {
    uv_loop_t loop;
    uv_timer_t guard;
    struct options options;
    struct pipeline *pipeline;
    struct profiler_listener *listener;
    char directory[64];
    char socket_path[80];
    char output[80];
    pid_t clients[CLIENTS_MAX];
    size_t client_count;
    unsigned introduced, ended;
    unsigned stop_after; /* ends, or introductions if `stop_on_hello` */
    bool stop_on_hello;
    char *complaints; /* stderr while the loop ran */
};

/* Clients: in a child process */

struct client {
    int fd;
    struct trd_arena *arena;
    int arena_fd;
    uint16_t flags; /* of its HELLO */
    uint64_t sent;  /* position behind the last batch */
};

static uint64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void client_connect(struct client *client, const char *path)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };

    strcpy(address.sun_path, path);
    client->arena = make_arena(RING_SIZE, 4, &client->arena_fd);
    client->fd = socket(AF_UNIX, SOCK_STREAM, 0);
    if (connect(client->fd, (struct sockaddr *)&address, sizeof(address)) != 0)
        _exit(11);
}

static void client_send(struct client *client, enum trd_frame_type type, const void *first,
                        size_t first_size, const void *second, size_t second_size, int fd)
{
    union {
        struct cmsghdr head;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control = { 0 };
    struct trd_frame_head head;
    struct iovec parts[3] = { { &head, sizeof(head) },
                              { (void *)(uintptr_t)first, first_size },
                              { (void *)(uintptr_t)second, second_size } };
    struct msghdr message = { .msg_iov = parts, .msg_iovlen = 3 };

    if (fd >= 0) {
        message.msg_control = &control;
        message.msg_controllen = sizeof(control);
        control.head.cmsg_level = SOL_SOCKET;
        control.head.cmsg_type = SCM_RIGHTS;
        control.head.cmsg_len = CMSG_LEN(sizeof(int));
        memcpy(CMSG_DATA(&control.head), &fd, sizeof(int));
    }
    trd_frame_head_init(&head, type, (uint32_t)(first_size + second_size));
    if (sendmsg(client->fd, &message, MSG_NOSIGNAL) < 0)
        _exit(12);
}

static void client_hello(struct client *client, int fd)
{
    struct trd_hello hello = { .magic = TRD_PROTOCOL_MAGIC,
                               .version = TRD_PROTOCOL_VERSION,
                               .flags = client->flags,
                               .pid = (uint32_t)getpid(),
                               .clock = TRD_CLOCK_MONOTONIC,
                               .ring_size = RING_SIZE,
                               .ring_count = 4,
                               .events_revision = TRD_EVENTS_REVISION };

    client_send(client, TRD_FRAME_HELLO, &hello, sizeof(hello), NULL, 0, fd);
}

/* Events number first … last of ring 0 into the arena. */
static void client_write(struct client *client, uint32_t first, uint32_t last)
{
    for (uint32_t i = first; i <= last; i++)
        write_gc_end(client->arena, 0, (uint32_t)getpid(), now_ns(), i);
}

/* What is written and not sent yet; the tail moves only if it is `taken`. */
static void client_batch(struct client *client, bool taken)
{
    struct trd_ring *ring = trd_arena_ring(client->arena, RING_SIZE, 0);
    struct trd_batch batch = { .tid = (uint32_t)getpid(), .position = client->sent };

    client_send(client, TRD_FRAME_BATCH, &batch, sizeof(batch),
                trd_ring_window(ring, 0) + client->sent % RING_SIZE, ring->head - client->sent, -1);
    client->sent = ring->head;
    if (taken)
        ring->tail = ring->head;
}

static void client_mark(struct client *client)
{
    struct trd_mark mark = { .ts_ns = now_ns() };

    client_send(client, TRD_FRAME_MARK, &mark, TRD_MARK_SIZE_MIN, NULL, 0, -1);
}

static void client_bye(struct client *client, uint64_t produced, uint64_t dropped)
{
    struct trd_goodbye goodbye = { .produced = produced, .dropped = dropped };

    client_send(client, TRD_FRAME_BYE, &goodbye, sizeof(goodbye), NULL, 0, -1);
}

static void client_greet(struct client *client, const char *path)
{
    client_connect(client, path);
    client_hello(client, client->arena_fd);
}

/* Reads until a frame of this type came. */
static void client_await(struct client *client, enum trd_frame_type type)
{
    struct trd_frame_head head;
    uint8_t payload[64];

    do
        if (recv(client->fd, &head, sizeof(head), MSG_WAITALL) != sizeof(head) ||
            head.size > sizeof(payload) ||
            recv(client->fd, payload, head.size, MSG_WAITALL) != (ssize_t)head.size)
            _exit(13);
    while (head.type != type);
}

static void orderly(const char *path)
{
    struct trd_ring_lost lost = { .tid = (uint32_t)getpid(), .count = 2 };
    struct client client = { 0 };

    client_greet(&client, path);
    client_write(&client, 1, 3);
    client_batch(&client, true);
    lost.from_ns = lost.to_ns = now_ns();
    client_send(&client, TRD_FRAME_LOST, &lost, sizeof(lost), NULL, 0, -1);
    client_mark(&client);
    client_bye(&client, 5, 2);
}

/* As after a daemon that was too slow to answer: the same process and arena, another connection. */
static void come_again(struct client *client, const char *path)
{
    struct client again = { 0 };
    struct trd_arena *arena = client->arena;
    int arena_fd = client->arena_fd;

    close(client->fd);
    client_connect(&again, path);
    *client = (struct client){ .fd = again.fd, .arena = arena, .arena_fd = arena_fd };
    client->sent = trd_arena_ring(arena, RING_SIZE, 0)->tail;
    client_hello(client, arena_fd);
}

/* Three events, told to the second connection. */
static void tell_anew(struct client *client, const char *path)
{
    client_greet(client, path);
    client_write(client, 1, 3);
    come_again(client, path);
    client_batch(client, true);
    client_mark(client);
}

static void comes_again_and_ends(const char *path)
{
    struct client client = { 0 };

    tell_anew(&client, path);
    client_bye(&client, 3, 0);
}

static void comes_again_and_is_killed(const char *path)
{
    struct client client = { 0 };

    tell_anew(&client, path);
    client_write(&client, 4, 5);
    raise(SIGKILL);
}

static void killed_with_full_rings(const char *path)
{
    struct client client = { 0 };

    client_greet(&client, path);
    client_write(&client, 1, 4);
    client_batch(&client, true);
    client_mark(&client);
    client_write(&client, 5, 10);
    raise(SIGKILL);
}

/* It died between sending and moving the tail, and while it wrote one more event. */
static void killed_between_send_and_tail(const char *path)
{
    struct client client = { 0 };

    client_greet(&client, path);
    client_write(&client, 1, 4);
    client_batch(&client, false);
    client_write(&client, 5, 6);
    trd_arena_ring(client.arena, RING_SIZE, 0)->produced++;
    raise(SIGKILL);
}

static void killed_with_untold_drops(const char *path)
{
    struct client client = { 0 };
    struct trd_ring *ring;

    client_greet(&client, path);
    client_write(&client, 1, 2);
    ring = trd_arena_ring(client.arena, RING_SIZE, 0);
    ring->untold_from_ns = ring->untold_to_ns = now_ns();
    ring->untold = 9;
    ring->produced += 9;
    client.arena->orphan_dropped = 4;
    raise(SIGKILL);
}

static void die_telling(const char *path, bool is_sent)
{
    struct trd_ring_lost lost = { .tid = (uint32_t)getpid(), .count = 5, .told = 5 };
    struct client client = { 0 };
    struct trd_ring *ring;

    client_greet(&client, path);
    client_write(&client, 1, 2);
    ring = trd_arena_ring(client.arena, RING_SIZE, 0);
    lost.from_ns = lost.to_ns = now_ns();
    ring->untold_from_ns = lost.from_ns;
    ring->untold_to_ns = lost.to_ns;
    ring->produced += 7;
    ring->untold = 7 | TRD_RING_TELLING; /* two more came while it told five */
    if (is_sent)
        client_send(&client, TRD_FRAME_LOST, &lost, sizeof(lost), NULL, 0, -1);
    raise(SIGKILL);
}

static void killed_before_lost_is_sent(const char *path)
{
    die_telling(path, false);
}

static void killed_between_lost_and_noting_it(const char *path)
{
    die_telling(path, true);
}

/* A forked child without exec keeps the connection open. */
static void killed_with_an_heir(const char *path)
{
    struct client client = { 0 };
    int barrier[2];

    client_greet(&client, path);
    client_await(&client, TRD_FRAME_WELCOME);
    client_write(&client, 1, 3);
    if (pipe(barrier) != 0)
        _exit(14);
    if (fork() == 0) {
        close(barrier[1]);
        /* Until the daemon has let go of the connection. */
        while (recv(client.fd, &(char){ 0 }, 1, 0) > 0)
            ;
        _exit(0);
    }
    raise(SIGKILL);
}

static void stays_until_detached(const char *path)
{
    struct client client = { 0 };

    client_greet(&client, path);
    client_await(&client, TRD_FRAME_WELCOME);
    client_await(&client, TRD_FRAME_DETACH);
    client_write(&client, 1, 2);
    client_batch(&client, true);
    client_bye(&client, 2, 0);
}

static void sends_noise(const char *path)
{
    struct client client = { 0 };

    client_connect(&client, path);
    (void)!write(client.fd, "GET / HTTP/1.1\r\n\r\n", 18);
    (void)!read(client.fd, &(char){ 0 }, 1);
}

static void says_hello_without_an_arena(const char *path)
{
    struct client client = { 0 };

    client_connect(&client, path);
    client_hello(&client, -1);
    (void)!read(client.fd, &(char){ 0 }, 1);
}

static void says_hello_twice(const char *path)
{
    struct client client = { 0 };

    client_greet(&client, path);
    client_write(&client, 1, 1);
    client_batch(&client, true);
    client_hello(&client, client.arena_fd);
    while (read(client.fd, &(char){ 0 }, 1) > 0)
        ;
}

static void leaves_a_gap(const char *path)
{
    struct client client = { 0 };

    client_greet(&client, path);
    client_write(&client, 1, 1);
    client_batch(&client, true);
    client.sent += 64;
    trd_arena_ring(client.arena, RING_SIZE, 0)->head += 64;
    client_write(&client, 2, 2);
    client_batch(&client, true);
    while (read(client.fd, &(char){ 0 }, 1) > 0)
        ;
}

/* Until the stream, which lies beside the socket, tells of so many. */
static bool stream_has(const char *path, unsigned events)
{
    char output[80], line[4096];
    unsigned seen = 0;
    FILE *file;

    (void)snprintf(output, sizeof(output), "%.*soutput", (int)(strlen(path) - strlen("socket")),
                   path);
    file = fopen(output, "r");
    while (file && fgets(line, sizeof(line), file))
        seen += strstr(line, "clr:gc_end") != NULL;
    if (file)
        fclose(file);
    return seen >= events;
}

static void pause_shortly(void)
{
    nanosleep(&(struct timespec){ .tv_nsec = 5000000 }, NULL);
}

/* Sends and marks when it is asked to and never else. */
static void quiet_until_it_is_asked(const char *path)
{
    struct client client = { .flags = TRD_HELLO_F_SWEEPS };

    client_connect(&client, path);
    if (syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED, 0, 0) != 0)
        _exit(15);
    client.arena->has_barrier = 1;
    client_hello(&client, client.arena_fd);
    client_await(&client, TRD_FRAME_WELCOME);
    for (uint32_t number = 1; number <= 2; number++) {
        client_write(&client, number, number);
        client_await(&client, TRD_FRAME_SWEEP);
        client_batch(&client, true);
        client_mark(&client);
        /* Of the other one's, whom this silence must not hold up. */
        while (number == 1 && !stream_has(path, 2))
            pause_shortly();
    }
    client_bye(&client, 2, 0);
}

static void speaks_beside_a_quiet_one(const char *path)
{
    struct client client = { 0 };

    client_greet(&client, path);
    client_await(&client, TRD_FRAME_WELCOME);
    for (; !stream_has(path, 1); pause_shortly())
        client_mark(&client);
    client_write(&client, 1, 1);
    client_batch(&client, true);
    for (; !stream_has(path, 2); pause_shortly())
        client_mark(&client);
    client_bye(&client, 1, 0);
}

/* World */

static void on_guard(uv_timer_t *timer)
{
    (void)timer;
    fprintf(stderr, "the loop did not end within %d ms\n", GIVE_UP_MS);
    abort();
}

static void stop(struct world *world)
{
    source_profilers_close(world->listener);
    world->listener = NULL;
    pipeline_stop(world->pipeline);
}

static void on_hello(pid_t pid, void *context)
{
    struct world *world = context;

    (void)pid;
    world->introduced++;
    if (world->stop_on_hello && world->introduced == world->stop_after)
        stop(world);
}

static void on_end(pid_t pid, void *context)
{
    struct world *world = context;

    (void)pid;
    world->ended++;
    if (!world->stop_on_hello && world->ended == world->stop_after)
        stop(world);
}

static void on_done(struct pipeline *pipeline, void *context)
{
    struct world *world = context;

    (void)pipeline;
    uv_close((uv_handle_t *)&world->guard, NULL);
}

static int setup(void **state)
{
    struct world *world = calloc(1, sizeof(*world));
    const struct profiler_watch watch = { .on_hello = on_hello,
                                          .on_end = on_end,
                                          .context = world };

    strcpy(world->directory, "/tmp/tracerd-test-XXXXXX");
    assert_non_null(mkdtemp(world->directory));
    (void)snprintf(world->socket_path, sizeof(world->socket_path), "%s/socket", world->directory);
    (void)snprintf(world->output, sizeof(world->output), "%s/output", world->directory);
    world->options = (struct options){ .command = COMMAND_RUN,
                                       .outputs = { world->output },
                                       .output_count = 1,
                                       .clr_categories = TRD_CATEGORIES_ALL,
                                       .max_delay_ns = UINT64_C(20000000000) };
    uv_loop_init(&world->loop);
    uv_timer_init(&world->loop, &world->guard);
    assert_int_equal(
        pipeline_create(&world->pipeline, &world->loop, &world->options, on_done, world), 0);
    assert_int_equal(source_profilers_listen(world->pipeline, &world->options, world->socket_path,
                                             0600, &watch, &world->listener),
                     0);
    *state = world;
    return 0;
}

static void start_client(struct world *world, void (*story)(const char *path))
{
    pid_t pid = fork();

    assert_true(pid >= 0);
    if (pid == 0) {
        story(world->socket_path);
        _exit(0);
    }
    world->clients[world->client_count++] = pid;
}

/* Until all of them are dead, and waited for by teardown. */
static void wait_for_clients(const struct world *world)
{
    siginfo_t info;

    for (size_t i = 0; i < world->client_count; i++)
        assert_int_equal(waitid(P_PID, (id_t)world->clients[i], &info, WEXITED | WNOWAIT), 0);
}

static void run(struct world *world)
{
    struct capture capture;

    uv_timer_start(&world->guard, on_guard, GIVE_UP_MS, 0);
    capture_begin(&capture, STDERR_FILENO);
    uv_run(&world->loop, UV_RUN_DEFAULT);
    world->complaints = capture_end(&capture);
}

static int teardown(void **state)
{
    struct world *world = *state;

    for (size_t i = 0; i < world->client_count; i++)
        waitpid(world->clients[i], NULL, 0);
    pipeline_destroy(world->pipeline);
    assert_int_equal(uv_loop_close(&world->loop), 0);
    assert_int_not_equal(access(world->socket_path, F_OK), 0);
    unlink(world->output);
    assert_int_equal(rmdir(world->directory), 0);
    free(world->complaints);
    free(world);
    return 0;
}

/* What came out: the story of one process */

struct story {
    unsigned events;
    uint64_t lost;
    bool in_order; /* numbers 1, 2, 3, … */
    bool has_late;
    uint64_t produced, delivered, told_lost; /* its row in bye */
    bool has_row;
};

static uint64_t count_of(json_t *object, const char *key)
{
    json_t *value = json_object_get(object, key);

    return json_is_string(value) ? strtoull(json_string_value(value), NULL, 10)
                                 : (uint64_t)json_integer_value(value);
}

static void read_bye(struct story *story, json_t *bye, pid_t pid)
{
    char name[32];
    size_t i;
    json_t *row;

    (void)snprintf(name, sizeof(name), "clr %d", pid);
    json_array_foreach(json_object_get(bye, "sources"), i, row)
    {
        if (strcmp(json_string_value(json_object_get(row, "source")), name) != 0)
            continue;
        story->has_row = true;
        story->produced += count_of(row, "produced");
        story->delivered += count_of(row, "delivered");
        story->told_lost += count_of(row, "lost");
    }
}

static void read_line(struct story *story, json_t *line, pid_t pid)
{
    const char *kind = json_string_value(json_object_get(line, "k"));

    if (strcmp(kind, "bye") == 0)
        read_bye(story, line, pid);
    if (json_integer_value(json_object_get(line, "pid")) != pid)
        return;
    story->has_late |= json_object_get(line, "late") != NULL;
    if (strcmp(kind, "lost") == 0)
        story->lost += count_of(line, "n");
    if (strcmp(kind, "ev") != 0)
        return;
    story->events++;
    story->in_order &= count_of(json_object_get(line, "args"), "number") == story->events &&
                       json_integer_value(json_object_get(line, "tid")) == pid;
}

static struct story story_of(const struct world *world, pid_t pid)
{
    struct story story = { .in_order = true };
    FILE *file = fopen(world->output, "r");
    json_error_t error;
    char line[4096];

    assert_non_null(file);
    while (fgets(line, sizeof(line), file)) {
        json_t *object = json_loads(line, 0, &error);

        assert_non_null(object);
        read_line(&story, object, pid);
        json_decref(object);
    }
    fclose(file);
    return story;
}

static void expect_story(const struct world *world, size_t client, unsigned events, uint64_t lost)
{
    struct story story = story_of(world, world->clients[client]);

    assert_int_equal(story.events, events);
    assert_true(story.in_order);
    assert_false(story.has_late);
    assert_int_equal(story.lost, lost);
    assert_true(story.has_row);
    assert_int_equal(story.delivered, events);
    assert_int_equal(story.told_lost, lost);
    assert_int_equal(story.produced, events + lost);
}

static unsigned complaints(const struct world *world)
{
    unsigned count = 0;

    for (const char *at = world->complaints; (at = strstr(at, "broke the protocol")); at++)
        count++;
    return count;
}

/* Tests */

static void test_orderly_process_is_told_whole(void **state)
{
    struct world *world = *state;

    world->stop_after = 1;
    start_client(world, orderly);
    run(world);
    expect_story(world, 0, 3, 2);
    assert_int_equal(complaints(world), 0);
}

static void test_killed_process_is_drained_from_its_arena(void **state)
{
    struct world *world = *state;

    world->stop_after = 3;
    start_client(world, killed_with_full_rings);
    start_client(world, killed_between_send_and_tail);
    start_client(world, killed_with_untold_drops);
    run(world);
    expect_story(world, 0, 10, 0);
    expect_story(world, 1, 6, 1);
    expect_story(world, 2, 2, 13);
    assert_int_equal(complaints(world), 0);
}

/* Both connections are accepted, and the process is dead, before the first of them is seen to end.
 */
static void test_process_that_came_again_is_told_once(void **state)
{
    struct world *world = *state;

    world->stop_after = 4;
    start_client(world, comes_again_and_ends);
    start_client(world, comes_again_and_is_killed);
    wait_for_clients(world);
    run(world);
    expect_story(world, 0, 3, 0);
    expect_story(world, 1, 5, 0);
    assert_int_equal(complaints(world), 0);
    assert_null(strstr(world->complaints, "without a count"));
}

static void test_drops_of_a_process_killed_while_telling_them_are_told_once(void **state)
{
    struct world *world = *state;

    world->stop_after = 2;
    start_client(world, killed_before_lost_is_sent);
    start_client(world, killed_between_lost_and_noting_it);
    run(world);
    expect_story(world, 0, 2, 7);
    expect_story(world, 1, 2, 7);
    assert_int_equal(complaints(world), 0);
}

static void test_connection_that_an_heir_holds_does_not_hide_a_death(void **state)
{
    struct world *world = *state;

    world->stop_after = 1;
    start_client(world, killed_with_an_heir);
    run(world);
    expect_story(world, 0, 3, 0);
}

/* No mark of its own lets the merge go on: the daemon sees for itself. */
static void test_quiet_process_is_asked_for_what_it_holds_and_holds_up_nobody(void **state)
{
    struct world *world = *state;

    world->stop_after = 2;
    start_client(world, quiet_until_it_is_asked);
    start_client(world, speaks_beside_a_quiet_one);
    run(world);
    expect_story(world, 0, 2, 0);
    expect_story(world, 1, 1, 0);
}

static void test_living_process_is_detached_at_the_end(void **state)
{
    struct world *world = *state;

    world->stop_after = 1;
    world->stop_on_hello = true;
    start_client(world, stays_until_detached);
    run(world);
    expect_story(world, 0, 2, 0);
}

static void test_process_that_lived_for_a_moment_waits_in_the_backlog(void **state)
{
    struct world *world = *state;

    start_client(world, orderly);
    start_client(world, killed_with_full_rings);
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(waitpid(world->clients[i], NULL, 0), world->clients[i]);
    stop(world);
    run(world);
    expect_story(world, 0, 3, 2);
    expect_story(world, 1, 10, 0);
}

static void expect_broken(void (*story)(const char *path), unsigned events, struct world *world)
{
    struct story broken;

    world->stop_after = events > 0 ? 2 : 1;
    start_client(world, story);
    start_client(world, orderly);
    run(world);
    broken = story_of(world, world->clients[0]);
    assert_int_equal(broken.events, events);
    assert_int_equal(broken.delivered, events);
    expect_story(world, 1, 3, 2); /* nobody else suffers */
    assert_int_equal(pipeline_exit_code(world->pipeline), EXIT_PARTIAL);
}

static void expect_one_complaint(const struct world *world)
{
    char needle[64];

    (void)snprintf(needle, sizeof(needle), "was disconnected: pid=%d", world->clients[0]);
    assert_non_null(strstr(world->complaints, needle));
    assert_int_equal(complaints(world), 1);
}

static void test_hello_twice_ends_that_connection_only(void **state)
{
    expect_broken(says_hello_twice, 1, *state);
    expect_one_complaint(*state);
}

static void test_gap_in_a_ring_ends_that_connection_only(void **state)
{
    expect_broken(leaves_a_gap, 1, *state);
    expect_one_complaint(*state);
}

/* Wait for the one that is told of; by then the other was refused or is waiting to be. */
static void test_noise_is_no_profiler(void **state)
{
    expect_broken(sends_noise, 0, *state);
    expect_one_complaint(*state);
}

static void test_hello_without_an_arena_is_refused(void **state)
{
    expect_broken(says_hello_without_an_arena, 0, *state);
    expect_one_complaint(*state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
        TEST(test_orderly_process_is_told_whole),
        TEST(test_killed_process_is_drained_from_its_arena),
        TEST(test_process_that_came_again_is_told_once),
        TEST(test_drops_of_a_process_killed_while_telling_them_are_told_once),
        TEST(test_connection_that_an_heir_holds_does_not_hide_a_death),
        TEST(test_quiet_process_is_asked_for_what_it_holds_and_holds_up_nobody),
        TEST(test_living_process_is_detached_at_the_end),
        TEST(test_process_that_lived_for_a_moment_waits_in_the_backlog),
        TEST(test_hello_twice_ends_that_connection_only),
        TEST(test_gap_in_a_ring_ends_that_connection_only),
        TEST(test_noise_is_no_profiler),
        TEST(test_hello_without_an_arena_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
