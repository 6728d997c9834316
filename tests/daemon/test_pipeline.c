#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "capture.h"
#include "event.h"
#include "pipeline.h"

/* A source that hands out a list of records and then waits for `stop`, or ends. */
struct fake {
    struct source source;
    struct trd_merge_input input;
    struct pipeline *pipeline;
    struct trd_record records[32];
    size_t count, next;
    bool lives; /* until it is stopped */
    bool stopped;
    struct ledger ledger;
    unsigned *destroyed;
};

struct world {
    uv_loop_t loop;
    struct options options;
    struct pipeline *pipeline;
    char path[64]; /* of the output */
    unsigned done;
    unsigned destroyed;
};

static int fake_next(struct trd_merge_input *input, struct trd_record *out)
{
    struct fake *fake = (struct fake *)((char *)input - offsetof(struct fake, input));

    if (fake->next < fake->count) {
        *out = fake->records[fake->next++];
        fake->ledger.produced += out->kind == TRD_KIND_EVENT;
        fake->ledger.delivered += out->kind == TRD_KIND_EVENT;
        if (out->kind == TRD_KIND_LOST) {
            fake->ledger.produced += out->lost;
            fake->ledger.lost += out->lost;
        }
        return 1;
    }
    if (fake->lives && !fake->stopped)
        return -EAGAIN;
    pipeline_source_ended(fake->pipeline, &fake->source);
    return 0;
}

static void fake_stop(struct source *source)
{
    struct fake *fake = (struct fake *)source;

    assert_false(fake->stopped);
    fake->stopped = true;
}

static void fake_account(struct source *source, struct ledger *out)
{
    *out = ((struct fake *)source)->ledger;
}

static void fake_destroy(struct source *source)
{
    ++*((struct fake *)source)->destroyed;
    free(source);
}

static struct fake *add_fake(struct world *world, const char *name, const char *clock)
{
    struct fake *fake = calloc(1, sizeof(*fake));

    assert_non_null(fake);
    (void)snprintf(fake->source.name, sizeof(fake->source.name), "%s", name);
    fake->source.clock = clock;
    fake->source.stop = fake_stop;
    fake->source.account = fake_account;
    fake->source.destroy = fake_destroy;
    fake->input.next = fake_next;
    fake->input.watermark_ns = UINT64_MAX;
    fake->pipeline = world->pipeline;
    fake->destroyed = &world->destroyed;
    pipeline_add_source(world->pipeline, &fake->source);
    assert_int_equal(pipeline_add_input(world->pipeline, &fake->source, &fake->input), 0);
    return fake;
}

static struct trd_record *add_record(struct fake *fake, enum trd_kind kind, uint64_t ts_ns)
{
    struct trd_record *record = &fake->records[fake->count++];

    trd_record_init(record);
    record->kind = (uint8_t)kind;
    record->ts_ns = ts_ns;
    record->source = TRD_SOURCE_CLR;
    record->pid = 7;
    return record;
}

static void add_event(struct fake *fake, enum trd_event_id id, uint64_t ts_ns)
{
    static const uint64_t zeros[8];
    struct trd_record *record = add_record(fake, TRD_KIND_EVENT, ts_ns);

    record->schema = trd_clr_schema((uint16_t)id);
    assert_non_null(record->schema);
    record->data = (const uint8_t *)zeros;
    record->size = record->schema->fixed_size;
}

static void on_done(struct pipeline *pipeline, void *context)
{
    (void)pipeline;
    ((struct world *)context)->done++;
}

static int setup(void **state)
{
    struct world *world = calloc(1, sizeof(*world));
    int fd;

    assert_non_null(world);
    strcpy(world->path, "/tmp/tracerd-test-pipeline-XXXXXX");
    fd = mkstemp(world->path);
    assert_true(fd >= 0);
    close(fd);
    world->options.command = COMMAND_REPLAY;
    world->options.clr_categories = TRD_CATEGORIES_ALL;
    world->options.outputs[0] = world->path;
    world->options.output_count = 1;
    uv_loop_init(&world->loop);
    *state = world;
    return 0;
}

static int teardown(void **state)
{
    struct world *world = *state;

    pipeline_destroy(world->pipeline);
    assert_int_equal(uv_loop_close(&world->loop), 0);
    unlink(world->path);
    free(world);
    return 0;
}

static void create(struct world *world)
{
    assert_int_equal(
        pipeline_create(&world->pipeline, &world->loop, &world->options, on_done, world), 0);
}

/* Runs to the end; the lines of the output, parsed. */
static json_t *finish(struct world *world)
{
    json_t *lines = json_array();
    FILE *file;
    json_t *line;

    pipeline_finish_when_ended(world->pipeline);
    uv_run(&world->loop, UV_RUN_DEFAULT);
    assert_int_equal(world->done, 1);
    file = fopen(world->path, "r");
    assert_non_null(file);
    while ((line = json_loadf(file, JSON_DISABLE_EOF_CHECK, NULL)))
        json_array_append_new(lines, line);
    fclose(file);
    return lines;
}

static const char *text_of(const json_t *lines, size_t index, const char *key)
{
    const char *text = json_string_value(json_object_get(json_array_get(lines, index), key));

    return text ? text : "(absent)";
}

static json_t *last(const json_t *lines)
{
    return json_array_get(lines, json_array_size(lines) - 1);
}

static uint64_t figure(const json_t *object, const char *key)
{
    return strtoull(json_string_value(json_object_get(object, key)), NULL, 10);
}

static void test_two_sources_come_out_in_time_order_between_hello_and_bye(void **state)
{
    struct world *world = *state;
    struct fake *a, *b;
    json_t *lines;

    create(world);
    a = add_fake(world, "a", "mono");
    b = add_fake(world, "b", "mono");
    for (uint64_t i = 0; i < 10; i++)
        add_event(i % 3 ? a : b, TRD_EV_thread_created, 100 + i);
    lines = finish(world);
    assert_int_equal(json_array_size(lines), 12);
    assert_string_equal(text_of(lines, 0, "k"), "hello");
    for (size_t i = 0; i < 12; i++) {
        char time[24];

        (void)snprintf(time, sizeof(time), "%zu", 99 + i);
        if (i > 0 && i < 11)
            assert_string_equal(text_of(lines, i, "ts"), time);
        assert_int_equal(json_integer_value(json_object_get(json_array_get(lines, i), "seq")), i);
    }
    assert_string_equal(text_of(lines, 11, "k"), "bye");
    assert_int_equal(figure(last(lines), "produced"), 10);
    assert_int_equal(figure(last(lines), "delivered"), 10);
    assert_int_equal(figure(last(lines), "lines"), 11);
    assert_int_equal(world->destroyed, 2);
    assert_int_equal(pipeline_exit_code(world->pipeline), EXIT_COMPLETE);
    json_decref(lines);
}

static void test_losses_balance_the_account_and_make_the_result_partial(void **state)
{
    struct world *world = *state;
    struct fake *fake;
    json_t *lines, *bye;

    create(world);
    fake = add_fake(world, "a", "mono");
    add_event(fake, TRD_EV_gc_start, 10);
    add_record(fake, TRD_KIND_LOST, 20)->lost = 41;
    add_event(fake, TRD_EV_thread_created, 30);
    lines = finish(world);
    bye = last(lines);
    assert_int_equal(figure(bye, "produced"), 43);
    assert_int_equal(figure(bye, "delivered"), 2);
    assert_int_equal(figure(bye, "lost"), 41);
    assert_int_equal(figure(json_array_get(json_object_get(bye, "sources"), 0), "lost"), 41);
    assert_int_equal(pipeline_exit_code(world->pipeline), EXIT_PARTIAL);
    json_decref(lines);
}

static void test_what_is_not_selected_is_counted_and_not_lost(void **state)
{
    struct world *world = *state;
    struct fake *fake;
    json_t *lines;

    world->options.clr_categories = TRD_CATEGORY_BIT(GC);
    create(world);
    fake = add_fake(world, "a", "mono");
    add_event(fake, TRD_EV_thread_created, 10);
    add_event(fake, TRD_EV_suspend_aborted, 20);
    add_event(fake, TRD_EV_jit_start, 30);
    lines = finish(world);
    assert_int_equal(json_array_size(lines), 3);
    assert_string_equal(text_of(lines, 1, "name"), "clr:suspend_aborted");
    assert_int_equal(figure(last(lines), "delivered"), 3);
    assert_int_equal(figure(last(lines), "filtered"), 2);
    assert_int_equal(figure(last(lines), "lost"), 0);
    assert_int_equal(pipeline_exit_code(world->pipeline), EXIT_COMPLETE);
    json_decref(lines);
}

/* A replayed span stands where it ended and shows when it began; it is not late. */
static void test_span_from_a_recording_stands_at_its_end(void **state)
{
    struct world *world = *state;
    struct trd_record *span;
    struct fake *fake;
    json_t *lines;

    create(world);
    fake = add_fake(world, "a", "mono");
    add_event(fake, TRD_EV_thread_created, 100);
    span = add_record(fake, TRD_KIND_SPAN, 200);
    span->dur_ns = 150;
    span->name = "clr:gc_pause";
    add_event(fake, TRD_EV_thread_created, 300);
    lines = finish(world);
    assert_string_equal(text_of(lines, 2, "k"), "span");
    assert_string_equal(text_of(lines, 2, "ts"), "50");
    assert_string_equal(text_of(lines, 3, "ts"), "300");
    assert_int_equal(figure(last(lines), "late"), 0);
    json_decref(lines);
}

static void test_sources_without_a_common_clock_are_marked_and_said(void **state)
{
    struct world *world = *state;
    struct fake *local, *mono, *unknown;
    struct capture capture;
    json_t *lines;
    char *text;

    create(world);
    local = add_fake(world, "first", "local");
    mono = add_fake(world, "second", "mono");
    unknown = add_fake(world, "third", NULL);
    /* They outlive their end here, to be looked at. */
    local->source.owns_schemas = mono->source.owns_schemas = unknown->source.owns_schemas = true;
    capture_begin(&capture, STDERR_FILENO);
    lines = finish(world);
    text = capture_end(&capture);
    assert_true(local->source.unaligned && unknown->source.unaligned && !mono->source.unaligned);
    assert_int_equal(capture_lines(text), 2);
    assert_string_equal(text_of(lines, 0, "clock"), "mono");
    assert_int_equal(json_array_size(json_object_get(json_array_get(lines, 0), "sources")), 3);
    free(text);
    json_decref(lines);
}

static void on_soon(uv_timer_t *timer)
{
    pipeline_stop(timer->data);
    uv_close((uv_handle_t *)timer, NULL);
}

/* Stop from outside, as a signal does it. */
static void stop_soon(struct world *world, uv_timer_t *timer)
{
    uv_timer_init(&world->loop, timer);
    timer->data = world->pipeline;
    uv_timer_start(timer, on_soon, 20, 0);
}

static void test_stop_reaches_every_source_once_and_drains(void **state)
{
    struct world *world = *state;
    uv_timer_t timer;
    struct fake *a, *b;
    json_t *lines;

    world->options.command = COMMAND_ATTACH;
    create(world);
    a = add_fake(world, "a", "mono");
    b = add_fake(world, "b", "mono");
    a->lives = b->lives = true;
    add_event(a, TRD_EV_thread_created, 10);
    add_event(b, TRD_EV_thread_created, 20);
    stop_soon(world, &timer);
    lines = finish(world);
    assert_int_equal(world->destroyed, 2);
    assert_int_equal(figure(last(lines), "delivered"), 2);
    assert_string_equal(text_of(lines, 0, "clock"), "mono");
    assert_true(json_is_object(json_object_get(json_array_get(lines, 0), "anchor")));
    json_decref(lines);
}

static void test_live_stream_shows_its_watermark_while_nothing_happens(void **state)
{
    struct world *world = *state;
    uv_timer_t timer;
    struct fake *fake;
    bool seen = false;
    json_t *lines;

    world->options.command = COMMAND_ATTACH;
    create(world);
    fake = add_fake(world, "a", "mono");
    fake->lives = true;
    fake->input.watermark_ns = 5000;
    uv_timer_init(&world->loop, &timer);
    timer.data = world->pipeline;
    uv_timer_start(&timer, on_soon, 1500, 0); /* one second is the beat */
    lines = finish(world);
    for (size_t i = 0; i < json_array_size(lines); i++)
        seen |= strcmp(text_of(lines, i, "k"), "hb") == 0 &&
                strcmp(text_of(lines, i, "ts"), "5000") == 0;
    assert_true(seen);
    json_decref(lines);
}

static void test_full_output_stops_everything_and_says_so_once(void **state)
{
    struct world *world = *state;
    struct capture capture;
    struct fake *fake;
    char *text;

    world->options.command = COMMAND_ATTACH;
    world->options.outputs[0] = "/dev/full";
    create(world);
    fake = add_fake(world, "a", "mono");
    fake->lives = true;
    add_event(fake, TRD_EV_thread_created, 10);
    capture_begin(&capture, STDERR_FILENO);
    uv_run(&world->loop, UV_RUN_DEFAULT);
    text = capture_end(&capture);
    assert_int_equal(world->done, 1);
    assert_int_equal(capture_lines(text), 1);
    assert_non_null(strstr(text, "/dev/full"));
    assert_int_not_equal(pipeline_exit_code(world->pipeline), EXIT_COMPLETE);
    free(text);
}

static void test_output_that_cannot_be_opened_leaves_nothing_behind(void **state)
{
    struct world *world = *state;
    struct capture capture;
    char *text;

    world->options.outputs[1] = "/nonexistent/directory/file";
    world->options.output_count = 2;
    capture_begin(&capture, STDERR_FILENO);
    assert_int_equal(
        pipeline_create(&world->pipeline, &world->loop, &world->options, on_done, world),
        EXIT_USAGE);
    text = capture_end(&capture);
    assert_int_equal(capture_lines(text), 1);
    free(text);
}

static void test_source_that_joins_late_is_in_the_account(void **state)
{
    struct world *world = *state;
    uv_timer_t timer;
    struct fake *a, *b;
    json_t *lines;

    world->options.command = COMMAND_ATTACH;
    create(world);
    a = add_fake(world, "a", "mono");
    a->lives = true;
    for (int i = 0; i < 5; i++)
        uv_run(&world->loop, UV_RUN_ONCE);
    b = add_fake(world, "b", "mono");
    add_event(b, TRD_EV_thread_created, 10);
    stop_soon(world, &timer);
    lines = finish(world);
    assert_int_equal(json_array_size(json_object_get(last(lines), "sources")), 2);
    assert_int_equal(figure(last(lines), "produced"), 1);
    json_decref(lines);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_two_sources_come_out_in_time_order_between_hello_and_bye),
        TEST(test_losses_balance_the_account_and_make_the_result_partial),
        TEST(test_what_is_not_selected_is_counted_and_not_lost),
        TEST(test_span_from_a_recording_stands_at_its_end),
        TEST(test_sources_without_a_common_clock_are_marked_and_said),
        TEST(test_stop_reaches_every_source_once_and_drains),
        TEST(test_live_stream_shows_its_watermark_while_nothing_happens),
        TEST(test_full_output_stops_everything_and_says_so_once),
        TEST(test_output_that_cannot_be_opened_leaves_nothing_behind),
        TEST(test_source_that_joins_late_is_in_the_account),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
