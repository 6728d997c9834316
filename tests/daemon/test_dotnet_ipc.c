/* Messages to and answers from the runtime's diagnostics socket, byte by byte. */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include "attach.h"
#include "dotnet_ipc.h"
#include "hresult.h"

#define HEADER "DOTNET_IPC_V1"

static void test_attach_message_is_what_the_protocol_says(void **state)
{
    static const uint8_t class_id[16] = TRD_CLSID_MAIN_BYTES;
    static const uint8_t expected[] = {
        'D',  'O',  'T',  'N',  'E',  'T',  '_',  'I',  'P',  'C',  '_',  'V',  '1', 0, /* magic */
        63,   0,    0x03, 0x01, 0,    0,                /* size, command */
        0xe8, 0x03, 0,    0,                            /* 1000 ms */
        0x3e, 0x5c, 0x1f, 0x8a, 0x0d, 0x6b, 0x7e, 0x4b, /* class id */
        0x9c, 0x55, 0x3d, 0x1e, 0x0f, 0x2a, 0x7b, 0x41, /* in memory order */
        6,    0,    0,    0,    '/',  0,    0xe9, 0,    0x3d, 0xd8, 0x00, 0xde, 'x', 0,
        0,    0,                                 /* "/é😀x" */
        3,    0,    0,    0,    'a',  'b',  'c', /* client data */
    };
    uint8_t message[DOTNET_IPC_MESSAGE_MAX];
    int size = dotnet_ipc_build_attach(class_id, "/\xc3\xa9\xf0\x9f\x98\x80x",
                                       (const uint8_t *)"abc", 3, 1000, message);

    (void)state;
    assert_int_equal(size, sizeof(expected));
    assert_memory_equal(message, expected, sizeof(expected));
}

static void test_client_data_length_is_there_when_it_is_zero(void **state)
{
    static const uint8_t class_id[16];
    static const uint8_t zero[4];
    uint8_t message[DOTNET_IPC_MESSAGE_MAX];
    int size = dotnet_ipc_build_attach(class_id, "", NULL, 0, 0, message);

    (void)state;
    assert_int_equal(size, 20 + 4 + 16 + 6 + 4);
    assert_memory_equal(message + size - 4, zero, 4);
}

static void test_message_over_16_bits_of_size_is_refused(void **state)
{
    static const uint8_t class_id[16];
    uint8_t *message = malloc(DOTNET_IPC_MESSAGE_MAX);
    char *path = malloc(40000);

    (void)state;
    memset(path, 'p', 39999);
    path[39999] = '\0';
    assert_int_equal(dotnet_ipc_build_attach(class_id, path, NULL, 0, 0, message), -ENAMETOOLONG);
    path[32742] = '\0'; /* the longest there is room for */
    assert_int_equal(dotnet_ipc_build_attach(class_id, path, NULL, 0, 0, message), 65534);
    path[32742] = 'p';
    path[32743] = '\0';
    assert_int_equal(dotnet_ipc_build_attach(class_id, path, NULL, 0, 0, message), -ENAMETOOLONG);
    free(path);
    free(message);
}

/* Answers */

static size_t make_answer(uint8_t *out, uint8_t id, const void *payload, size_t size)
{
    uint8_t header[20] = HEADER;

    header[14] = (uint8_t)(sizeof(header) + size);
    header[16] = 0xff;
    header[17] = id;
    memcpy(out, header, sizeof(header));
    if (size > 0)
        memcpy(out + sizeof(header), payload, size);
    return sizeof(header) + size;
}

static void test_answers_of_24_and_28_bytes_are_ok(void **state)
{
    static const uint8_t zeros[8];
    uint8_t answer[64];
    int32_t hresult = 1;

    (void)state;
    assert_int_equal(dotnet_ipc_parse_answer(answer, make_answer(answer, 0, zeros, 4), &hresult),
                     0);
    assert_int_equal(hresult, 0);
    assert_int_equal(dotnet_ipc_parse_answer(answer, make_answer(answer, 0, zeros, 8), &hresult),
                     0);
    assert_int_equal(hresult, 0);
}

static void test_error_answer_brings_its_hresult(void **state)
{
    uint32_t active = 0x8013136a;
    uint8_t answer[64];
    size_t size = make_answer(answer, 0xff, &active, sizeof(active));
    int32_t hresult = 0;

    (void)state;
    assert_int_equal(dotnet_ipc_parse_answer(answer, size, &hresult), 0);
    assert_int_equal(hresult, HRESULT_PROFILER_ALREADY_ACTIVE);
    assert_non_null(strstr(hresult_text(hresult), "another profiler"));
}

static void test_every_prefix_of_an_answer_waits_for_more(void **state)
{
    uint8_t answer[64];
    uint32_t value = 0;
    size_t size = make_answer(answer, 0, &value, sizeof(value));
    int32_t hresult = 77;

    (void)state;
    for (size_t i = 0; i < size; i++)
        assert_int_equal(dotnet_ipc_parse_answer(answer, i, &hresult), -EAGAIN);
    assert_int_equal(hresult, 77);
}

static void test_foreign_bytes_are_no_answer(void **state)
{
    static const size_t places[] = { 0, 13, 16, 17 }; /* magic, its NUL, set, id */
    uint8_t answer[64];
    uint32_t value = 0;
    int32_t hresult;

    (void)state;
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        size_t size = make_answer(answer, 0, &value, sizeof(value));

        answer[places[i]] ^= 0x55;
        assert_int_equal(dotnet_ipc_parse_answer(answer, size, &hresult), -EBADMSG);
    }
    make_answer(answer, 0, &value, sizeof(value));
    answer[14] = 19; /* shorter than its own header */
    assert_int_equal(dotnet_ipc_parse_answer(answer, 24, &hresult), -EBADMSG);
    assert_int_equal(dotnet_ipc_parse_answer(answer, make_answer(answer, 0xff, NULL, 0), &hresult),
                     -EBADMSG); /* an error without a reason */
}

static void test_unknown_hresult_has_a_sentence(void **state)
{
    (void)state;
    assert_non_null(strstr(hresult_text((int32_t)0x80001234u), "does not know"));
    assert_non_null(strstr(hresult_text((int32_t)0x8007007eu), "library"));
}

/* A runtime of our own: takes one connection, notes the first read, answers in two pieces. */

struct runtime {
    char directory[64];
    char path[100];
    int fd;
    pthread_t thread;
    uint8_t got[256];
    ssize_t got_size;
    uint8_t answer[64];
    size_t answer_size;
};

static void *serve(void *context)
{
    struct runtime *runtime = context;
    int fd = accept(runtime->fd, NULL, NULL);

    runtime->got_size = recv(fd, runtime->got, sizeof(runtime->got), 0);
    for (size_t i = 0; i < runtime->answer_size; i += 10) {
        size_t left = runtime->answer_size - i;

        (void)!write(fd, runtime->answer + i, left < 10 ? left : 10);
    }
    close(fd);
    return NULL;
}

static void start_runtime(struct runtime *runtime)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };

    strcpy(runtime->directory, "/tmp/tracerd-test-XXXXXX");
    assert_non_null(mkdtemp(runtime->directory));
    (void)snprintf(runtime->path, sizeof(runtime->path), "%s/socket", runtime->directory);
    (void)snprintf(address.sun_path, sizeof(address.sun_path), "%s", runtime->path);
    runtime->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(runtime->fd, (struct sockaddr *)&address, sizeof(address)), 0);
    assert_int_equal(listen(runtime->fd, 1), 0);
    assert_int_equal(pthread_create(&runtime->thread, NULL, serve, runtime), 0);
}

static void stop_runtime(struct runtime *runtime)
{
    pthread_join(runtime->thread, NULL);
    close(runtime->fd);
    unlink(runtime->path);
    rmdir(runtime->directory);
}

static void test_request_is_one_write_and_takes_an_answer_in_pieces(void **state)
{
    uint32_t value = 0x80131375;
    struct runtime runtime = { 0 };
    int32_t hresult = 0;
    int result;

    (void)state;
    runtime.answer_size = make_answer(runtime.answer, 0xff, &value, sizeof(value));
    start_runtime(&runtime);
    result = dotnet_ipc_request(runtime.path, (const uint8_t *)"message", 7, 5000, &hresult);
    stop_runtime(&runtime);
    assert_int_equal(result, 0);
    assert_int_equal((uint32_t)hresult, value);
    assert_int_equal(runtime.got_size, 7);
    assert_memory_equal(runtime.got, "message", 7);
}

static void test_request_that_nobody_finishes_is_an_error(void **state)
{
    struct runtime runtime = { 0 };
    int32_t hresult;
    int result;

    (void)state;
    runtime.answer_size = make_answer(runtime.answer, 0, NULL, 0) - 1;
    start_runtime(&runtime);
    result = dotnet_ipc_request(runtime.path, (const uint8_t *)"m", 1, 5000, &hresult);
    stop_runtime(&runtime);
    assert_int_equal(result, -ECONNRESET);
    assert_int_equal(dotnet_ipc_request("/nowhere/socket", (const uint8_t *)"m", 1, 1, &hresult),
                     -ENOENT);
}

static void test_request_to_a_silent_server_times_out(void **state)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    char directory[] = "/tmp/tracerd-test-XXXXXX";
    int32_t hresult;
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);

    (void)state;
    assert_non_null(mkdtemp(directory));
    (void)snprintf(address.sun_path, sizeof(address.sun_path), "%s/socket", directory);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
    assert_int_equal(listen(fd, 0), 0);
    /* Connected, never served; then not even connected, since the queue is full. */
    for (int i = 0; i < 2; i++)
        assert_int_equal(
            dotnet_ipc_request(address.sun_path, (const uint8_t *)"m", 1, 20, &hresult),
            -ETIMEDOUT);
    close(fd);
    unlink(address.sun_path);
    rmdir(directory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_attach_message_is_what_the_protocol_says),
        cmocka_unit_test(test_client_data_length_is_there_when_it_is_zero),
        cmocka_unit_test(test_message_over_16_bits_of_size_is_refused),
        cmocka_unit_test(test_answers_of_24_and_28_bytes_are_ok),
        cmocka_unit_test(test_error_answer_brings_its_hresult),
        cmocka_unit_test(test_every_prefix_of_an_answer_waits_for_more),
        cmocka_unit_test(test_foreign_bytes_are_no_answer),
        cmocka_unit_test(test_unknown_hresult_has_a_sentence),
        cmocka_unit_test(test_request_is_one_write_and_takes_an_answer_in_pieces),
        cmocka_unit_test(test_request_that_nobody_finishes_is_an_error),
        cmocka_unit_test(test_request_to_a_silent_server_times_out),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
