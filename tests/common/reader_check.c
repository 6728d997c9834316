#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "reader_check.h"
#include "tracerd/reader.h"

/* More than any file of a test can hold: a reader that never ends is found. */
#define RECORDS_MAX 1000000

static uint64_t read_number(const struct trd_record *record)
{
    uint64_t number = 0;

    if (strcmp(record->schema->name, "tick") != 0 || record->size < 16)
        return UINT64_MAX;
    for (int i = 0; i < 8; i++)
        number = number << 8 | record->data[8 + (record->schema->big_endian ? i : 7 - i)];
    return number;
}

static void keep(struct reading *reading, const struct trd_record *record)
{
    struct seen *seen;

    if ((reading->count & (reading->count - 1)) == 0)
        reading->records = realloc(reading->records, (reading->count ? reading->count * 2 : 1) *
                                                         sizeof(*reading->records));
    assert_non_null(reading->records);
    assert_true(reading->count < RECORDS_MAX);
    seen = &reading->records[reading->count++];
    *seen = (struct seen){
        .ts_ns = record->ts_ns,
        .cpu = record->cpu,
        .tid = record->tid,
        .flags = record->flags,
        .is_loss = record->kind == TRD_KIND_LOST,
        .lost = record->lost,
        .from_ns = record->lost_from_ns,
    };
    (void)snprintf(seen->stream, sizeof(seen->stream), "%s", record->stream ? record->stream : "");
    assert_int_equal(record->source, TRD_SOURCE_FTRACE);
    assert_int_equal(record->pid, -1);
    if (seen->is_loss) {
        assert_null(record->schema);
        assert_true(record->lost > 0);
        assert_true(record->lost_from_ns <= record->ts_ns);
        reading->losses++;
        return;
    }
    assert_int_equal(record->kind, TRD_KIND_EVENT);
    assert_non_null(record->schema);
    seen->number = read_number(record);
    reading->events++;
}

static void keep_damage(struct reading *reading, const struct trd_reader *reader)
{
    const struct trd_damage *damage;
    size_t at = 0;

    while ((damage = trd_reader_damage(reader, reading->damage_count)) != NULL) {
        assert_non_null(damage->what);
        if (at < sizeof(reading->damage))
            at += (size_t)snprintf(reading->damage + at, sizeof(reading->damage) - at, "%s\n",
                                   damage->what);
        reading->damage_count++;
    }
}

void reading_init(struct reading *reading, const uint8_t *bytes, size_t size)
{
    uint8_t *exact = malloc(size ? size : 1);
    struct trd_reader *reader = NULL;
    struct trd_record record;
    int result;

    assert_non_null(exact);
    memcpy(exact, bytes, size);
    memset(reading, 0, sizeof(*reading));
    reading->opened =
        trd_reader_open_memory(&reader, exact, size, reading->error, sizeof(reading->error));
    if (reading->opened == 0) {
        while ((result = trd_reader_next(reader, &record)) == 1)
            keep(reading, &record);
        assert_int_equal(result, 0);
        assert_int_equal(trd_reader_next(reader, &record), 0);
        keep_damage(reading, reader);
        trd_reader_destroy(reader);
    } else {
        assert_null(reader);
        assert_true(reading->opened < 0);
        assert_true(*reading->error); /* each failure is explained */
    }
    free(exact);
}

void reading_finish(struct reading *reading)
{
    free(reading->records);
}

void reading_expect_whole(const struct reading *reading)
{
    assert_string_equal(reading->error, "");
    assert_int_equal(reading->opened, 0);
    assert_string_equal(reading->damage, "");
}

void fill_ticks(struct dat_maker *maker, struct dat_maker_buffer *buffer, uint64_t ts,
                uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t cpu = i % buffer->cpu_count;

        dat_maker_tick(maker, buffer, cpu, ts + i * 10, 100 + (int32_t)cpu, i);
    }
}

void expect_ticks(const struct reading *reading, uint64_t ts, uint32_t count, uint32_t cpu_count)
{
    size_t at = 0;

    assert_int_equal(reading->events, count);
    for (size_t i = 0; i < reading->count; i++) {
        const struct seen *seen = &reading->records[i];

        if (seen->is_loss)
            continue;
        assert_int_equal(seen->number, at);
        assert_int_equal(seen->ts_ns, ts + at * 10);
        assert_int_equal(seen->cpu, at % cpu_count);
        assert_int_equal(seen->tid, 100 + at % cpu_count);
        at++;
    }
}
