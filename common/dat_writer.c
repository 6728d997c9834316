#include "tracerd/dat_writer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dat_writer_private.h"

#define COMMS_MAX (1u << 20)
#define COMM_SIZE_MAX 255

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
    int result = writer->started ? 0 : dat_layout_start(writer);

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
    int result = writer->started ? 0 : dat_layout_start(writer);

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
    int result = writer->started ? 0 : dat_layout_start(writer);
    uint64_t *sizes = dat_layout_sizes(writer);

    if (!sizes)
        result = -ENOMEM;
    for (uint32_t i = 0; result == 0 && i <= writer->options.cpu_max; i++)
        result = dat_stream_sync(&writer->streams[i], &sizes[i]);
    if (result == 0)
        result = dat_layout_write_options(writer, sizes);
    free(sizes);
    return result;
}

void trd_dat_writer_abandon(struct trd_dat_writer *writer)
{
    if (writer->started && writer->kernel_section && !writer->packed)
        (void)dat_layout_write_options_now(writer);
}
