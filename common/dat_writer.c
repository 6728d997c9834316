#include "tracerd/dat_writer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dat_clr.h"
#include "dat_sections.h"
#include "dat_stream.h"

/* What a file that grows may claim; the file systems in use allow twice as much. */
#define FILE_SIZE_MAX (UINT64_C(8) << 40)
#define STREAM_SIZE_MAX (UINT64_C(1) << 40)
#define COMMS_MAX (1u << 20)
#define COMM_SIZE_MAX 255

struct trd_dat_writer {
    struct trd_dat_target target;
    struct trd_dat_options options; /* its texts are owned */
    const struct trd_catalog *catalog;
    struct trd_page_layout layout;
    uint32_t clr_base;
    struct dat_stream *streams; /* owned; a CPU each, then the CLR's */
    struct dat_stream *clr;     /* the last of them */
    uint64_t options_at;        /* of the options section */
    uint64_t header_size;       /* which ends with the place of the options */
    uint32_t cpu_count;         /* that the file is to tell of */
    uint64_t sections[DAT_OPTION_LAST + 1];
    uint64_t kernel_section, clr_section; /* of the heads of the data */
    struct idmap comms;
    struct idmap owners; /* pid by tid, as a number */
    int32_t last_owned[2];
    const struct trd_schema *sched_switch;
    const struct trd_field *switch_fields[4]; /* prev_pid, prev_comm, next_pid, next_comm */
    int32_t last_tid;
    uint64_t left_out;
    bool started;
    uint8_t record[DAT_CLR_RECORD_MAX];
};

int trd_dat_writer_create(struct trd_dat_writer **out, const struct trd_dat_target *target,
                          const struct trd_dat_options *options)
{
    struct trd_dat_writer *writer = calloc(1, sizeof(*writer));

    if (!writer)
        return -ENOMEM;
    writer->target = *target;
    writer->options = *options;
    writer->options.clock = strdup(options->clock);
    writer->options.uname = strdup(options->uname);
    writer->streams = calloc(options->cpu_max + 1u, sizeof(*writer->streams));
    writer->last_tid = -1;
    writer->layout = (struct trd_page_layout){
        .long_size = 8, .commit_size = 8, .commit_offset = 8, .data_offset = 16
    };
    idmap_init(&writer->comms, COMMS_MAX);
    idmap_init(&writer->owners, COMMS_MAX);
    if (!writer->options.clock || !writer->options.uname || !writer->streams) {
        trd_dat_writer_destroy(writer);
        return -ENOMEM;
    }
    writer->cpu_count = options->cpu_count;
    writer->clr = &writer->streams[options->cpu_max];
    *out = writer;
    return 0;
}

void trd_dat_writer_destroy(struct trd_dat_writer *writer)
{
    if (!writer)
        return;
    for (uint32_t i = 0; writer->streams && i <= writer->options.cpu_max; i++)
        dat_stream_finish(&writer->streams[i]);
    free(writer->streams);
    free((void *)(uintptr_t)writer->options.clock);
    free((void *)(uintptr_t)writer->options.uname);
    idmap_finish(&writer->comms, free);
    idmap_finish(&writer->owners, NULL);
    free(writer);
}

int trd_dat_writer_set_catalog(struct trd_dat_writer *writer, const struct trd_catalog *catalog)
{
    static const char *const names[] = { "prev_pid", "prev_comm", "next_pid", "next_comm" };
    const struct trd_page_layout *layout = trd_catalog_get_layout(catalog);

    if (writer->catalog || writer->started)
        return -EEXIST;
    if (layout->big_endian != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__))
        return -ENOTSUP;
    writer->catalog = catalog;
    writer->layout = *layout;
    writer->sched_switch = trd_catalog_find_name(catalog, "sched", "sched_switch");
    for (size_t i = 0; writer->sched_switch && i < 4; i++) {
        writer->switch_fields[i] = trd_schema_field(writer->sched_switch, names[i]);
        if (!writer->switch_fields[i])
            writer->sched_switch = NULL;
    }
    return 0;
}

/* Layout of the file */

static int write_at(struct trd_dat_writer *writer, uint64_t offset, struct dat_bytes *bytes)
{
    int result = bytes->failed ? -ENOMEM
                               : writer->target.write(writer->target.context, offset, bytes->bytes,
                                                      bytes->size);

    dat_bytes_finish(bytes);
    return result;
}

static void put_header(const struct trd_dat_writer *writer, struct dat_bytes *out)
{
    static const uint8_t magic[] = { 0x17, 0x08, 0x44, 't', 'r', 'a', 'c', 'i', 'n', 'g' };
    const uint8_t machine[] = { __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__, sizeof(long) };

    dat_bytes_put(out, magic, sizeof(magic));
    dat_bytes_text(out, "7");
    dat_bytes_put(out, machine, sizeof(machine));
    /* trace-cmd takes this one for the largest sub-buffer of the top buffer. */
    dat_bytes_u32(out, writer->options.page_size);
    dat_bytes_text(out, "none");
    dat_bytes_text(out, "");
    dat_bytes_u64(out, writer->options_at);
}

static void put_option(struct dat_bytes *out, uint16_t id, const void *data, uint32_t size)
{
    dat_bytes_u16(out, id);
    dat_bytes_u32(out, size);
    dat_bytes_put(out, data, size);
}

static void put_buffer(const struct trd_dat_writer *writer, struct dat_bytes *out, uint64_t section,
                       const char *name, const struct dat_stream *streams, uint32_t count,
                       const uint64_t *sizes)
{
    dat_bytes_u16(out, DAT_OPTION_BUFFER);
    dat_bytes_u32(out, (uint32_t)(8 + strlen(name) + 1 + strlen(writer->options.clock) + 1 + 8 +
                                  (size_t)count * 20));
    dat_bytes_u64(out, section);
    dat_bytes_text(out, name);
    dat_bytes_text(out, writer->options.clock);
    dat_bytes_u32(out, writer->options.page_size);
    dat_bytes_u32(out, count);
    for (uint32_t i = 0; i < count; i++) {
        dat_bytes_u32(out, i);
        dat_bytes_u64(out, streams[i].begin);
        dat_bytes_u64(out, sizes[i]);
    }
}

static void put_clock(const struct trd_dat_writer *writer, struct dat_bytes *out)
{
    struct dat_bytes text = { 0 };

    dat_bytes_print(&text, "[%s]\n", writer->options.clock);
    put_option(out, DAT_OPTION_TRACECLOCK, text.bytes, (uint32_t)text.size);
    out->failed |= text.failed;
    dat_bytes_finish(&text);
}

static void put_options(const struct trd_dat_writer *writer, struct dat_bytes *out, uint32_t cpus,
                        const uint64_t *sizes)
{
    put_clock(writer, out);
    put_option(out, DAT_OPTION_UNAME, writer->options.uname,
               (uint32_t)strlen(writer->options.uname) + 1);
    put_option(out, DAT_OPTION_CPUCOUNT, &cpus, sizeof(cpus));
    for (uint16_t id = DAT_OPTION_HEADER_INFO; id <= DAT_OPTION_CMDLINES; id++)
        if (writer->sections[id])
            put_option(out, id, &writer->sections[id], sizeof(writer->sections[id]));
    put_buffer(writer, out, writer->kernel_section, "", writer->streams, cpus, sizes);
    put_buffer(writer, out, writer->clr_section, DAT_CLR_BUFFER, writer->clr, 1,
               &sizes[writer->clr - writer->streams]);
}

static void put_end_of_options(struct dat_bytes *out, size_t section)
{
    const uint64_t none = 0;

    put_option(out, DAT_OPTION_DONE, &none, sizeof(none));
    dat_section_close(out, section);
}

/* The same size each time: it is written again as the file grows. */
static int write_options(struct trd_dat_writer *writer, const uint64_t *sizes)
{
    struct dat_bytes out = { 0 };
    size_t section = dat_section_open(&out, DAT_OPTION_DONE);

    put_options(writer, &out, writer->options.cpu_max, sizes);
    put_end_of_options(&out, section);
    return write_at(writer, writer->options_at, &out);
}

static uint64_t *get_sizes(const struct trd_dat_writer *writer)
{
    uint64_t *sizes = calloc(writer->options.cpu_max + 1u, sizeof(*sizes));

    for (uint32_t i = 0; sizes && i <= writer->options.cpu_max; i++)
        sizes[i] = writer->streams[i].size;
    return sizes;
}

static int write_data_head(struct trd_dat_writer *writer, uint64_t at, uint64_t end)
{
    struct dat_bytes out = { 0 };
    uint64_t size = end - at - DAT_SECTION_HEAD;

    (void)dat_section_open(&out, DAT_OPTION_BUFFER);
    if (!out.failed)
        memcpy(out.bytes + 8, &size, sizeof(size));
    return write_at(writer, at, &out);
}

static uint64_t round_up(uint64_t value, uint64_t unit)
{
    return (value + unit - 1) / unit * unit;
}

/* A region for each CPU, the head of the CLR's data between the last one's and its own. */
static int place_streams(struct trd_dat_writer *writer, uint64_t at)
{
    uint32_t page = writer->options.page_size, cpus = writer->options.cpu_max;
    uint64_t room = FILE_SIZE_MAX / (cpus + 1u);
    int result;

    room = (room < STREAM_SIZE_MAX ? room : STREAM_SIZE_MAX) / page * page;
    writer->kernel_section = at;
    at = round_up(at + DAT_SECTION_HEAD, page);
    for (uint32_t i = 0; i <= cpus; i++) {
        if (i == cpus) {
            writer->clr_section = at;
            at += page;
        }
        writer->streams[i].target = &writer->target;
        writer->streams[i].layout = writer->layout;
        writer->streams[i].page_size = page;
        writer->streams[i].begin = at;
        writer->streams[i].room = room;
        at += room;
    }
    result = write_data_head(writer, writer->kernel_section, writer->clr_section);
    return result == 0 ? write_data_head(writer, writer->clr_section, at) : result;
}

static int write_options_now(struct trd_dat_writer *writer)
{
    uint64_t *sizes = get_sizes(writer);
    int result = sizes ? write_options(writer, sizes) : -ENOMEM;

    free(sizes);
    return result;
}

/* Room for the options, whose size depends on texts and the number of CPUs only. */
static uint64_t options_room(const struct trd_dat_writer *writer)
{
    return 512 + strlen(writer->options.uname) + 3 * strlen(writer->options.clock) +
           ((uint64_t)writer->options.cpu_max + 1) * 20;
}

static int start(struct trd_dat_writer *writer)
{
    struct dat_bytes head = { 0 };
    uint64_t offsets[DAT_OPTION_LAST + 1] = { 0 };
    int result;

    writer->started = true;
    writer->clr_base = dat_clr_choose_base(writer->catalog);
    put_header(writer, &head);
    writer->header_size = head.size;
    dat_sections_put(&head, writer->catalog, &writer->layout, writer->options.page_size,
                     writer->clr_base, offsets);
    memcpy(writer->sections, offsets, sizeof(offsets));
    writer->options_at = head.size;
    if (!head.failed)
        memcpy(head.bytes + writer->header_size - 8, &writer->options_at,
               sizeof(writer->options_at));
    result = write_at(writer, 0, &head);
    if (result == 0)
        result = place_streams(writer, writer->options_at + options_room(writer));
    return result == 0 ? write_options_now(writer) : result;
}

/* Names of threads */

static void set_comm(struct trd_dat_writer *writer, int32_t tid, const char *name, size_t size,
                     bool anew)
{
    char *copy;
    void *old = NULL;

    if (tid < 0 || size == 0 || (!anew && idmap_get(&writer->comms, (uint32_t)tid, 0)))
        return;
    copy = strndup(name, size < COMM_SIZE_MAX ? size : COMM_SIZE_MAX);
    if (!copy)
        return;
    for (char *at = copy; *at; at++)
        if (*at == '\n')
            *at = ' ';
    if (idmap_set(&writer->comms, (uint32_t)tid, 0, copy, &old) != 0)
        free(copy);
    free(old);
}

void trd_dat_writer_set_comm(struct trd_dat_writer *writer, int32_t tid, const char *comm,
                             size_t size)
{
    set_comm(writer, tid, comm, size, false);
}

/* A name that the kernel's catalog or the runtime has; the runtime's is the better one. */
static void note_thread(struct trd_dat_writer *writer, const struct trd_record *record)
{
    const char *comm;

    if (record->tid == writer->last_tid)
        return;
    writer->last_tid = record->tid;
    if (record->thread_size > 0) {
        set_comm(writer, record->tid, record->thread, record->thread_size, true);
        return;
    }
    comm = writer->catalog ? trd_catalog_comm(writer->catalog, record->tid) : NULL;
    if (comm)
        set_comm(writer, record->tid, comm, strlen(comm), false);
}

static void note_switch(struct trd_dat_writer *writer, const struct trd_record *record)
{
    for (size_t i = 0; i < 4; i += 2) {
        const struct trd_field *pid = writer->switch_fields[i];
        const struct trd_field *comm = writer->switch_fields[i + 1];
        const char *name = (const char *)record->data + comm->offset;
        int32_t tid;

        if (pid->size != sizeof(tid))
            continue;
        memcpy(&tid, record->data + pid->offset, sizeof(tid));
        set_comm(writer, tid, name, strnlen(name, comm->size), false);
    }
}

/* Records */

static int write_clr(struct trd_dat_writer *writer, const struct trd_record *record)
{
    size_t size = writer->clr_base ? dat_clr_put(record, writer->clr_base, writer->record) : 0;

    if (size == 0) {
        writer->left_out += record->kind == TRD_KIND_EVENT;
        return 0;
    }
    return dat_stream_record(writer->clr, record->ts_ns, writer->record, size);
}

static bool is_of_catalog(const struct trd_dat_writer *writer, const struct trd_record *record)
{
    return writer->catalog && record->schema && record->data &&
           record->size >= record->schema->fixed_size &&
           trd_catalog_find(writer->catalog, record->schema->id) == record->schema;
}

static inline void note_cpu(struct trd_dat_writer *writer, uint32_t cpu)
{
    if (cpu >= writer->cpu_count)
        writer->cpu_count = cpu + 1;
}

static int write_kernel(struct trd_dat_writer *writer, const struct trd_record *record)
{
    struct dat_stream *stream = &writer->streams[record->cpu >= 0 ? record->cpu : 0];

    if (record->cpu < 0 || (uint32_t)record->cpu >= writer->options.cpu_max ||
        (record->kind == TRD_KIND_EVENT && !is_of_catalog(writer, record))) {
        writer->left_out += record->kind == TRD_KIND_EVENT;
        return 0;
    }
    note_cpu(writer, (uint32_t)record->cpu);
    if (record->kind == TRD_KIND_LOST) {
        stream->lost += record->lost != TRD_LOST_UNKNOWN ? record->lost : 0;
        return dat_stream_loss(stream, record->lost);
    }
    if (record->schema == writer->sched_switch)
        note_switch(writer, record);
    return dat_stream_record(stream, record->ts_ns, record->data, record->size);
}

/* Whose thread it is, a moment before its record: at the same time the kernel's would come first.
 */
static int write_owner(struct trd_dat_writer *writer, const struct trd_record *record)
{
    uint64_t ts = record->ts_ns > 0 ? record->ts_ns - 1 : 0;
    void *pid = (void *)(uintptr_t)record->pid, *old;
    size_t size;

    writer->last_owned[0] = record->tid;
    writer->last_owned[1] = record->pid;
    if (idmap_get(&writer->owners, (uint32_t)record->tid, 0) == pid || !writer->clr_base)
        return 0;
    (void)idmap_set(&writer->owners, (uint32_t)record->tid, 0, pid, &old);
    size = dat_clr_put_owner(record->tid, record->pid, writer->clr_base, writer->record);
    return dat_stream_record(writer->clr, ts > writer->clr->ts ? ts : writer->clr->ts,
                             writer->record, size);
}

static inline int note_owner(struct trd_dat_writer *writer, const struct trd_record *record)
{
    if (record->pid <= 0 || record->tid <= 0 ||
        (record->tid == writer->last_owned[0] && record->pid == writer->last_owned[1]))
        return 0;
    return write_owner(writer, record);
}

int trd_dat_writer_record(struct trd_dat_writer *writer, const struct trd_record *record)
{
    int result = writer->started ? 0 : start(writer);

    if (result != 0 || (record->kind != TRD_KIND_EVENT && record->kind != TRD_KIND_LOST))
        return result;
    note_thread(writer, record);
    result = note_owner(writer, record);
    if (result != 0)
        return result;
    result =
        record->source == TRD_SOURCE_CLR ? write_clr(writer, record) : write_kernel(writer, record);
    if (result != -E2BIG)
        return result;
    writer->left_out++;
    return 0;
}

int trd_dat_writer_page(struct trd_dat_writer *writer, uint32_t cpu, const uint8_t *bytes,
                        size_t size)
{
    int result = writer->started ? 0 : start(writer);

    if (result == 0 && cpu >= writer->options.cpu_max)
        result = -ENODEV;
    if (result != 0)
        return result;
    note_cpu(writer, cpu);
    return dat_stream_page(&writer->streams[cpu], bytes, size);
}

void trd_dat_writer_set_lost(struct trd_dat_writer *writer, uint32_t cpu, uint64_t lost)
{
    if (cpu < writer->options.cpu_max && lost > writer->streams[cpu].lost)
        writer->streams[cpu].lost = lost;
}

uint64_t trd_dat_writer_left_out(const struct trd_dat_writer *writer)
{
    return writer->left_out;
}

int trd_dat_writer_sync(struct trd_dat_writer *writer)
{
    int result = writer->started ? 0 : start(writer);
    uint64_t *sizes = get_sizes(writer);

    if (!sizes)
        result = -ENOMEM;
    for (uint32_t i = 0; result == 0 && i <= writer->options.cpu_max; i++)
        result = dat_stream_sync(&writer->streams[i], &sizes[i]);
    if (result == 0)
        result = write_options(writer, sizes);
    free(sizes);
    return result;
}

/* The end */

static int move_stream(struct trd_dat_writer *writer, struct dat_stream *stream, uint64_t to)
{
    int result = 0;

    if (stream->size > 0 && to != stream->begin)
        result = writer->target.move(writer->target.context, stream->begin, to, stream->size);
    if (result == 0)
        stream->begin = to;
    return result;
}

/* One behind the other. *out_end: behind the last. */
static int move_together(struct trd_dat_writer *writer, uint64_t *out_end)
{
    uint64_t at = writer->streams[0].begin;
    int result = 0;

    for (uint32_t i = 0; i <= writer->options.cpu_max && result == 0; i++) {
        if (i == writer->options.cpu_max) {
            writer->clr_section = at;
            at += writer->options.page_size;
        }
        result = move_stream(writer, &writer->streams[i], at);
        if (result == 0 && i < writer->options.cpu_max)
            result = write_options_now(writer);
        at += writer->streams[i].size;
    }
    *out_end = at;
    if (result == 0)
        result = write_data_head(writer, writer->kernel_section, writer->clr_section);
    return result == 0 ? write_data_head(writer, writer->clr_section, at) : result;
}

static void put_statistics(const struct trd_dat_writer *writer, struct dat_bytes *out)
{
    for (uint32_t i = 0; i < writer->cpu_count; i++) {
        struct dat_bytes text = { 0 };

        dat_bytes_print(&text, "CPU: %u\nentries: 0\noverrun: %llu\ncommit overrun: 0\n", i,
                        (unsigned long long)writer->streams[i].lost);
        dat_bytes_print(&text, "dropped events: 0\n");
        put_option(out, DAT_OPTION_CPUSTAT, text.bytes, (uint32_t)text.size);
        out->failed |= text.failed;
        dat_bytes_finish(&text);
    }
}

/* Options of the whole file, and names; whoever opens it is led here from now on. */
static int write_tail(struct trd_dat_writer *writer, uint64_t end)
{
    struct dat_bytes out = { 0 };
    uint64_t *sizes = get_sizes(writer);
    uint64_t options_at, size;
    size_t section;
    int result;

    if (!sizes)
        return -ENOMEM;
    writer->sections[DAT_OPTION_CMDLINES] = end;
    dat_sections_put_cmdlines(&out, &writer->comms);
    section = dat_section_open(&out, DAT_OPTION_DONE);
    put_options(writer, &out, writer->cpu_count, sizes);
    put_statistics(writer, &out);
    put_end_of_options(&out, section);
    free(sizes);
    options_at = end + section;
    size = end + out.size;
    result = write_at(writer, end, &out);
    if (result == 0)
        result = writer->target.write(writer->target.context, writer->header_size - 8, &options_at,
                                      sizeof(options_at));
    return result == 0 ? writer->target.resize(writer->target.context, size) : result;
}

int trd_dat_writer_end(struct trd_dat_writer *writer)
{
    int result = writer->started ? 0 : start(writer);
    uint64_t end = 0;

    for (uint32_t i = 0; result == 0 && i <= writer->options.cpu_max; i++)
        result = dat_stream_flush(&writer->streams[i]);
    if (result == 0)
        result = move_together(writer, &end);
    return result == 0 ? write_tail(writer, end) : result;
}
