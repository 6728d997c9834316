/*
 * Lines per second of the JSON writer for records like sched_switch and sched_waking, beside
 * jansson building the same lines in the same run. The two take turns, and the best of several
 * rounds counts, so that other work on the machine disturbs both alike. Prints one line of figures;
 * fails only if the two do not write the same.
 */
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tracerd/json.h"

#define RECORDS 4096
#define ROUNDS 7
#define OURS_REPEATS 64 /* so that a round takes some tens of milliseconds */
#define LINE_ROOM 1024

struct switch_data {
    uint16_t type;
    uint8_t flags, preempt;
    int32_t common_pid;
    char prev_comm[16];
    int32_t prev_pid, prev_prio;
    int64_t prev_state;
    char next_comm[16];
    int32_t next_pid, next_prio;
};

static const struct trd_name states[] = { { 1, "S" },  { 2, "D" },  { 4, "T" },  { 8, "t" },
                                          { 16, "X" }, { 32, "Z" }, { 64, "P" }, { 128, "I" } };
static const struct trd_names state_names = { states, 8, 0xff };

#define INT(ident, member, sign)                                                                   \
    {                                                                                              \
        .name = ident, .offset = offsetof(struct switch_data, member),                             \
        .size = sizeof(((struct switch_data *)0)->member),                                         \
        .elem_size = sizeof(((struct switch_data *)0)->member), .count = 1,                        \
        .storage = TRD_STORAGE_INT, .is_signed = sign                                              \
    }
#define COMM(ident, member)                                                                        \
    {                                                                                              \
        .name = ident, .offset = offsetof(struct switch_data, member), .size = 16, .elem_size = 1, \
        .count = 16, .storage = TRD_STORAGE_CHARS, .meaning = TRD_MEANING_TEXT                     \
    }

static struct trd_field fields[] = {
    INT("common_type", type, false),
    INT("common_flags", flags, false),
    INT("common_preempt_count", preempt, false),
    INT("common_pid", common_pid, true),
    COMM("prev_comm", prev_comm),
    INT("prev_pid", prev_pid, true),
    INT("prev_prio", prev_prio, true),
    INT("prev_state", prev_state, true),
    COMM("next_comm", next_comm),
    INT("next_pid", next_pid, true),
    INT("next_prio", next_prio, true),
};

static const struct trd_schema schema = { .system = "sched",
                                          .name = "sched_switch",
                                          .full_name = "sched:sched_switch",
                                          .long_size = 8,
                                          .fields = fields,
                                          .field_count = sizeof(fields) / sizeof(fields[0]),
                                          .common_count = 4 };

static struct switch_data data[RECORDS];
static struct trd_record records[RECORDS];

static void make_records(void)
{
    static const char *const comms[] = { "swapper/1", ".NET TP Worker", "kworker/u8:3", "dotnet" };

    fields[7].meaning = TRD_MEANING_FLAGS;
    fields[7].names = &state_names;
    srand(3);
    for (int i = 0; i < RECORDS; i++) {
        struct switch_data *event = &data[i];
        struct trd_record *record = &records[i];

        strcpy(event->prev_comm, comms[rand() % 4]);
        strcpy(event->next_comm, comms[rand() % 4]);
        event->prev_pid = rand() % 40000;
        event->next_pid = rand() % 40000;
        event->prev_prio = event->next_prio = 120;
        event->prev_state = rand() % 3;
        trd_record_init(record);
        record->ts_ns = 1764540000000000000u + (uint64_t)i * 3571;
        record->cpu = i & 1;
        record->pid = 4242;
        record->tid = event->prev_pid;
        record->schema = &schema;
        record->data = (const uint8_t *)event;
        record->size = sizeof(*event);
        if (i % 2) {
            record->thread = "worker-1";
            record->thread_size = 8;
        }
    }
}

static json_t *decimal(const char *format, uint64_t value)
{
    char text[32];

    (void)snprintf(text, sizeof(text), format, value);
    return json_string(text);
}

static json_t *flags(int64_t value)
{
    json_t *names = json_array();

    for (size_t i = 0; i < 8; i++)
        if (value & (int64_t)states[i].value)
            json_array_append_new(names, json_string(states[i].name));
    return json_pack("{s:o,s:o}", "raw", decimal("%" PRId64, (uint64_t)value), "names", names);
}

/* What one would write with a JSON library, member by member. */
static size_t line_by_jansson(const struct trd_record *record, uint64_t seq, char *out)
{
    const struct switch_data *event = (const void *)record->data;
    json_t *line = json_object(), *args = json_object();
    size_t size;

    json_object_set_new(line, "v", json_integer(1));
    json_object_set_new(line, "k", json_string("ev"));
    json_object_set_new(line, "seq", json_integer((json_int_t)seq));
    json_object_set_new(line, "ts", decimal("%" PRIu64, record->ts_ns));
    json_object_set_new(line, "src", json_string("ftrace"));
    json_object_set_new(line, "cpu", json_integer(record->cpu));
    json_object_set_new(line, "pid", json_integer(record->pid));
    json_object_set_new(line, "tid", json_integer(record->tid));
    if (record->thread_size)
        json_object_set_new(line, "thread", json_stringn(record->thread, record->thread_size));
    json_object_set_new(line, "name", json_string(schema.full_name));
    json_object_set_new(args, "prev_comm", json_string(event->prev_comm));
    json_object_set_new(args, "prev_pid", json_integer(event->prev_pid));
    json_object_set_new(args, "prev_prio", json_integer(event->prev_prio));
    json_object_set_new(args, "prev_state", flags(event->prev_state));
    json_object_set_new(args, "next_comm", json_string(event->next_comm));
    json_object_set_new(args, "next_pid", json_integer(event->next_pid));
    json_object_set_new(args, "next_prio", json_integer(event->next_prio));
    json_object_set_new(line, "args", args);
    size = json_dumpb(line, out, LINE_ROOM, JSON_COMPACT);
    json_decref(line);
    out[size] = '\n';
    return size + 1;
}

static double now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static double rate_of_jansson(char *out)
{
    double start = now();

    for (int i = 0; i < RECORDS; i++)
        (void)line_by_jansson(&records[i], (uint64_t)i + 1000000, out);
    return RECORDS / (now() - start);
}

static double rate_of_ours(struct trd_json *json, char *out, uint64_t *out_bytes)
{
    double start = now();

    for (int repeat = 0; repeat < OURS_REPEATS; repeat++) {
        char *at = out;

        for (int i = 0; i < RECORDS; i++)
            at += trd_json_line(json, &records[i], (uint64_t)i + 1000000, at, TRD_JSON_LINE_MAX);
        *out_bytes = (uint64_t)(at - out);
    }
    return (double)RECORDS * OURS_REPEATS / (now() - start);
}

static int compare(struct trd_json *json, char *out)
{
    static char other[LINE_ROOM + 1];

    for (int i = 0; i < RECORDS; i++) {
        size_t size = line_by_jansson(&records[i], (uint64_t)i, other);

        if (trd_json_line(json, &records[i], (uint64_t)i, out, TRD_JSON_LINE_MAX) !=
                (int64_t)size ||
            memcmp(out, other, size) != 0) {
            fprintf(stderr, "bench_json: the two differ:\n%.*s%.*s", (int)size, other, (int)size,
                    out);
            return 1;
        }
    }
    return 0;
}

int main(void)
{
    char *out = malloc((size_t)RECORDS * LINE_ROOM + TRD_JSON_LINE_MAX);
    double ours = 0, jansson = 0;
    struct trd_json *json;
    uint64_t bytes = 0;

    if (!out || trd_json_create(&json, NULL) != 0)
        return 1;
    make_records();
    if (compare(json, out) != 0)
        return 1;
    for (int round = 0; round < ROUNDS; round++) {
        double rate = rate_of_jansson(out);

        jansson = rate > jansson ? rate : jansson;
        rate = rate_of_ours(json, out, &bytes);
        ours = rate > ours ? rate : ours;
    }
    printf("bench_json: %.2f M lines/s (%.0f ns, %" PRIu64
           " bytes a line), jansson %.2f M lines/s, ratio %.1f\n",
           ours / 1e6, 1e9 / ours, bytes / RECORDS, jansson / 1e6, ours / jansson);
    trd_json_destroy(json);
    free(out);
    return 0;
}
