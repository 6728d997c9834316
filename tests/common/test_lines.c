/* Lines of several threads are, byte for byte and in order, those of one. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "event.h"
#include "tracerd/lines.h"

#define RECORDS 20000
#define FIRST_SEQ 4711

static const char format[] = "name: mixed\nID: 1\nformat:\n"
                             "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
                             "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
                             "\tfield:u64 number;\toffset:8;\tsize:8;\tsigned:0;\n"
                             "\tfield:char comm[16];\toffset:16;\tsize:16;\tsigned:0;\n"
                             "\tfield:__data_loc char[] text;\toffset:32;\tsize:4;\tsigned:0;\n\n"
                             "print fmt: \"%llu\", REC->number\n";

static struct trd_catalog *catalog;
static uint64_t name_now; /* what the resolver answers: changes with the stream */

static uint64_t random_bits(void)
{
    static uint64_t state = 88172645463325252u;

    state ^= state << 13;
    state ^= state >> 7;
    return state ^= state << 17;
}

static const char *resolve(void *context, int32_t pid, enum trd_meaning meaning, uint64_t id,
                           size_t *out_size)
{
    static char text[32];

    (void)context;
    (void)pid;
    (void)meaning;
    *out_size = (size_t)snprintf(text, sizeof(text), "name-%llu-%llu", (unsigned long long)id,
                                 (unsigned long long)name_now);
    return text;
}

static const struct trd_json_names names = { .resolve = resolve };

/* Memory that a record points at; overwritten for the next one, as sources do. */
static struct {
    uint8_t data[3000];
    char thread[32], stream[16], args[64], name[16];
} lent;

static uint8_t staying[RECORDS][48];

static void put_kernel(uint8_t *data, uint64_t number, uint32_t text_size)
{
    const uint16_t word[2] = { 36, (uint16_t)text_size };

    memset(data, 0, 36);
    data[0] = 1;
    memcpy(data + 8, &number, 8);
    (void)snprintf((char *)data + 16, 16, "comm-%u", (unsigned)(number % 1000));
    memcpy(data + 32, word, 4);
    memset(data + 36, 'a' + (int)(number % 26), text_size);
}

static void make_event(struct trd_record *record, uint64_t i)
{
    record->schema = trd_catalog_find(catalog, 1);
    record->cpu = (int32_t)(random_bits() % 4);
    record->tid = (int32_t)(random_bits() % 200);
    record->pid = random_bits() % 3 ? -1 : record->tid;
    if (random_bits() % 2) {
        record->data_stays = true;
        record->data = staying[i];
        record->size = 40;
        put_kernel(staying[i], random_bits(), 4);
    } else {
        uint32_t text_size = (uint32_t)(random_bits() % (random_bits() % 50 ? 20 : 2900));

        record->data = lent.data;
        record->size = 36 + text_size;
        put_kernel(lent.data, random_bits(), text_size);
    }
    if (random_bits() % 8 == 0) {
        record->thread = lent.thread;
        record->thread_size = (uint32_t)snprintf(lent.thread, sizeof(lent.thread), "thread-%u",
                                                 (unsigned)(random_bits() % 50));
    }
}

static void make_clr(struct trd_record *record)
{
    struct trd_ev_jit_start start = { .method = random_bits() % 100 };

    memcpy(lent.data, &start, sizeof(start));
    record->source = TRD_SOURCE_CLR;
    record->schema = trd_clr_schema(TRD_EV_jit_start);
    record->data = lent.data;
    record->size = sizeof(start);
    record->pid = record->tid = 7;
}

static void make_derived(struct trd_record *record)
{
    record->kind = TRD_KIND_SPAN;
    record->dur_ns = random_bits() % 1000;
    record->source = TRD_SOURCE_TRACERD;
    (void)snprintf(lent.name, sizeof(lent.name), "span-%u", (unsigned)(random_bits() % 10));
    record->name = lent.name;
    record->args_json = lent.args;
    record->args_json_size = (uint32_t)snprintf(lent.args, sizeof(lent.args), "{\"n\":%u}",
                                                (unsigned)(random_bits() % 1000));
}

static void make_loss(struct trd_record *record)
{
    record->kind = TRD_KIND_LOST;
    record->lost = random_bits() % 2 ? TRD_LOST_UNKNOWN : random_bits() % 100;
    record->lost_from_ns = record->ts_ns - 5;
    (void)snprintf(lent.stream, sizeof(lent.stream), "ring-%u", (unsigned)(random_bits() % 5));
    record->stream = lent.stream;
}

static void make_record(struct trd_record *record, uint64_t i)
{
    unsigned kind = (unsigned)(random_bits() % 20);

    memset(&lent, 0xdb, sizeof(lent));
    trd_record_init(record);
    record->ts_ns = 1000000 + i * 37;
    name_now = i;
    if (kind == 0)
        make_loss(record);
    else if (kind == 1)
        make_derived(record);
    else if (kind < 5)
        make_clr(record);
    else
        make_event(record, i);
}

/* What was handed out, in order. */
struct received {
    char *bytes; /* owned */
    size_t size, capacity;
    uint64_t lines, last_seq, last_ns, batches;
};

static void keep(struct received *received, const char *bytes, size_t size)
{
    while (received->capacity - received->size < size) {
        received->capacity = received->capacity ? received->capacity * 2 : 1 << 20;
        received->bytes = realloc(received->bytes, received->capacity);
        assert_non_null(received->bytes);
    }
    memcpy(received->bytes + received->size, bytes, size);
    received->size += size;
}

static void on_ready(void *context, const struct trd_lines_batch *batch)
{
    struct received *received = context;
    uint64_t newlines = 0;

    for (size_t i = 0; i < batch->size; i++)
        newlines += batch->bytes[i] == '\n';
    assert_true(batch->count > 0);
    assert_int_equal(batch->count, newlines);
    assert_int_equal(batch->bytes[batch->size - 1], '\n');
    assert_int_equal(batch->last_seq, received->last_seq + batch->count);
    assert_true(batch->first_ns > received->last_ns && batch->last_ns >= batch->first_ns);
    assert_int_equal(batch->unwritten, 0);
    received->last_seq = batch->last_seq;
    received->last_ns = batch->last_ns;
    received->lines += batch->count;
    received->batches++;
    keep(received, batch->bytes, batch->size);
}

static struct trd_lines *start(unsigned workers, struct received *received)
{
    struct trd_lines *lines;

    *received = (struct received){ .last_seq = FIRST_SEQ - 1 };
    assert_int_equal(trd_lines_create(&lines, workers, &names, on_ready, received), 0);
    trd_lines_add_catalog(lines, catalog);
    return lines;
}

static void check_workers(unsigned workers, bool flush_at_times)
{
    static char line[TRD_JSON_LINE_MAX];
    struct received received, expected = { 0 };
    struct trd_lines *lines = start(workers, &received);
    struct trd_record record;
    struct trd_json *json;

    assert_int_equal(trd_json_create(&json, &names), 0);
    trd_json_add_catalog(json, catalog);
    for (uint64_t i = 0; i < RECORDS; i++) {
        make_record(&record, i);
        assert_int_equal(trd_lines_put(lines, &record, FIRST_SEQ + i), 0);
        keep(&expected, line,
             (size_t)trd_json_line(json, &record, FIRST_SEQ + i, line, sizeof(line)));
        if (!flush_at_times || random_bits() % 700 != 0)
            continue;
        trd_lines_flush(lines);
        assert_int_equal(received.lines, i + 1);
    }
    trd_lines_flush(lines);
    trd_lines_flush(lines);
    assert_int_equal(received.lines, RECORDS);
    assert_int_equal(received.size, expected.size);
    assert_memory_equal(received.bytes, expected.bytes, expected.size);
    trd_lines_destroy(lines);
    trd_json_destroy(json);
    free(received.bytes);
    free(expected.bytes);
}

static void test_one_worker_gives_the_bytes_of_one_thread(void **state)
{
    (void)state;
    check_workers(1, false);
}

static void test_many_workers_give_the_bytes_of_one_thread(void **state)
{
    (void)state;
    check_workers(2, true);
    check_workers(5, false);
}

static void test_flush_hands_out_everything_at_once(void **state)
{
    (void)state;
    check_workers(1, true);
}

static void test_destroy_with_blocks_on_their_way_drops_them(void **state)
{
    struct received received;
    struct trd_lines *lines;
    struct trd_record record;

    (void)state;
    for (uint64_t count = 1; count < 6000; count += 1111) {
        lines = start(3, &received);
        for (uint64_t i = 0; i < count; i++) {
            make_record(&record, i);
            assert_int_equal(trd_lines_put(lines, &record, FIRST_SEQ + i), 0);
        }
        trd_lines_destroy(lines);
        assert_true(received.lines <= count);
        free(received.bytes);
    }
}

static void test_ready_args_longer_than_any_event_arrive_whole(void **state)
{
    const size_t size = 3 * TRD_JSON_LINE_MAX;
    struct received received;
    struct trd_lines *lines = start(1, &received);
    struct trd_record record;
    char *args = malloc(size);

    (void)state;
    assert_non_null(args);
    memset(args, ' ', size);
    args[0] = '{';
    args[size - 1] = '}';
    for (uint64_t i = 0; i < 3; i++) {
        trd_record_init(&record);
        record.ts_ns = i + 1;
        record.name = "large";
        record.args_json = args;
        record.args_json_size = (uint32_t)size;
        assert_int_equal(trd_lines_put(lines, &record, FIRST_SEQ + i), 0);
    }
    trd_lines_flush(lines);
    assert_int_equal(received.lines, 3);
    assert_true(received.size > 3 * size);
    assert_non_null(memmem(received.bytes, received.size, args, size));
    trd_lines_destroy(lines);
    free(received.bytes);
    free(args);
}

static void test_a_number_of_workers_that_makes_no_sense_is_refused(void **state)
{
    struct trd_lines *lines = NULL;

    (void)state;
    assert_int_equal(trd_lines_create(&lines, 0, NULL, on_ready, NULL), -EINVAL);
    assert_int_equal(trd_lines_create(&lines, TRD_LINES_WORKERS_MAX + 1, NULL, on_ready, NULL),
                     -EINVAL);
    assert_null(lines);
}

static int set_up(void **state)
{
    (void)state;
    if (trd_catalog_create(&catalog, __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__, 8) != 0)
        return -1;
    return trd_catalog_add_format(catalog, "test", format, sizeof(format) - 1);
}

static int tear_down(void **state)
{
    (void)state;
    trd_catalog_destroy(catalog);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_worker_gives_the_bytes_of_one_thread),
        cmocka_unit_test(test_many_workers_give_the_bytes_of_one_thread),
        cmocka_unit_test(test_flush_hands_out_everything_at_once),
        cmocka_unit_test(test_destroy_with_blocks_on_their_way_drops_them),
        cmocka_unit_test(test_ready_args_longer_than_any_event_arrive_whole),
        cmocka_unit_test(test_a_number_of_workers_that_makes_no_sense_is_refused),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
