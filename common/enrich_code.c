/*
 * Whose code an address of a traced process belongs to: one map of code per process, filled by
 * clr:code. An address nobody told of is put down once, so that the process can be asked about it:
 * code that came compiled with its module raises no event of its own.
 */
#include "enrich_state.h"

#include <stdlib.h>
#include <string.h>

#include "event.h"
#include "field.h"

/* The kernel's half of the address space. */
#define KERNEL_ADDRESSES (UINT64_C(1) << 63)

static struct process_code *get_code(struct trd_enrich *enrich, int32_t pid)
{
    struct process *process = enrich_get_process(enrich, pid);
    struct process_code *code;

    if (!process || process->code)
        return process ? process->code : NULL;
    code = calloc(1, sizeof(*code));
    if (!code)
        return NULL;
    if (trd_codemap_create(&code->map, ENRICH_CODE_OF_PROCESS_MAX) != 0) {
        free(code);
        return NULL;
    }
    idmap_init(&code->asked, ENRICH_ASKED_MAX);
    enrich->code_maps++;
    process->code = code;
    return code;
}

static size_t runs_in(const struct process_code *code)
{
    struct trd_codemap_counts counts;

    trd_codemap_count(code->map, &counts);
    return counts.living + counts.ended;
}

void enrich_destroy_code(struct trd_enrich *enrich, struct process *process)
{
    struct process_code *code = process->code;

    process->code = NULL;
    if (!code)
        return;
    enrich->code_maps--;
    enrich->code_runs -= runs_in(code);
    trd_codemap_destroy(code->map);
    idmap_finish(&code->asked, NULL);
    free(code);
}

/* The code may run, on another thread, before the one that compiled it comes to say so. */
static uint64_t begin_of(const struct trd_enrich *enrich, const struct trd_record *record,
                         uint64_t method)
{
    const struct thread *thread = enrich_find_thread(enrich, record->tid);

    if (record->flags & TRD_RECORD_F_CATCH_UP)
        return 0;
    return thread && thread->compiled_method == method ? thread->compiled_from_ns : record->ts_ns;
}

void enrich_add_code(struct trd_enrich *enrich, const struct trd_record *record)
{
    struct process_code *code = get_code(enrich, record->pid);
    struct trd_ev_code event;
    struct trd_code run;
    size_t before;

    memcpy(&event, record->data, sizeof(event));
    if (!code || event.method == 0 || enrich->code_runs >= ENRICH_CODE_MAX)
        return;
    run = (struct trd_code){ .address = event.address,
                             .size = event.size,
                             .method = event.method,
                             .from_ns = begin_of(enrich, record, event.method),
                             .rejit = event.rejit,
                             .version = event.version,
                             .kind = event.kind,
                             .part = event.part };
    before = runs_in(code);
    (void)trd_codemap_add(code->map, &run, record->ts_ns); /* the map counts what it refuses */
    enrich->code_runs += runs_in(code) - before;
}

void enrich_set_method_module(struct trd_enrich *enrich, int32_t pid, uint64_t method,
                              uint64_t module)
{
    struct process_code *code = get_code(enrich, pid);

    if (code)
        (void)trd_codemap_set_module(code->map, method, module);
}

static void forget_asked(struct process_code *code)
{
    idmap_finish(&code->asked, NULL);
    idmap_init(&code->asked, ENRICH_ASKED_MAX);
}

void enrich_unload_method(struct trd_enrich *enrich, const struct trd_record *record,
                          uint64_t method)
{
    struct process *process = enrich_find_process(enrich, record->pid);

    if (process && process->code)
        trd_codemap_unload_method(process->code->map, method, record->ts_ns);
}

void enrich_unload_module(struct trd_enrich *enrich, const struct trd_record *record,
                          uint64_t module)
{
    struct process *process = enrich_find_process(enrich, record->pid);

    if (!process || !process->code)
        return;
    trd_codemap_unload_module(process->code->map, module, record->ts_ns);
    forget_asked(process->code); /* other code may lie there next */
}

/* For the writer of lines */

const char *enrich_symbol(void *context, int32_t pid, uint64_t address, uint64_t ts_ns,
                          size_t *out_size, uint64_t *out_offset)
{
    const struct trd_enrich *enrich = context;
    const struct process *process = enrich_find_process(enrich, pid);
    struct trd_code code;

    if (!process || !process->code || !trd_codemap_find(process->code->map, address, ts_ns, &code))
        return NULL;
    *out_offset = address - code.address;
    return enrich_resolve(context, pid, TRD_MEANING_METHOD, code.method, out_size);
}

/* What is to be asked */

static void want(struct process_code *code, uint64_t address, uint64_t ts_ns)
{
    struct trd_code known;
    void *old;

    if (address == 0 || address >= KERNEL_ADDRESSES || code->wanted_count == ENRICH_WANTED_MAX ||
        trd_codemap_find(code->map, address, ts_ns, &known) || idmap_get(&code->asked, address, 0))
        return;
    if (code->asked.count == ENRICH_ASKED_MAX)
        forget_asked(code);
    if (idmap_set(&code->asked, address, 0, code, &old) == 0)
        code->wanted[code->wanted_count++] = address;
}

void enrich_want_addresses(struct trd_enrich *enrich, const struct trd_record *record,
                           const struct trd_field *field)
{
    const struct thread *thread = enrich_find_thread(enrich, record->tid);
    const struct process *process = enrich_find_process(enrich, thread ? thread->pid : -1);
    struct field_bytes bytes;

    if (!process || !process->code || field->elem_size != sizeof(uint64_t) ||
        !field_find(record->schema, field, record->data, record->size, &bytes))
        return;
    for (size_t at = 0; at + sizeof(uint64_t) <= bytes.size; at += sizeof(uint64_t)) {
        uint64_t address =
            load_int(bytes.at + at, sizeof(address), false, record->schema->big_endian);

        if (address == 0 || address == UINT64_MAX) /* the stack's end */
            break;
        want(process->code, address, record->ts_ns);
    }
}

size_t trd_enrich_wanted(struct trd_enrich *enrich, int32_t pid, uint64_t *out, size_t capacity)
{
    struct process *process = enrich->code_maps ? enrich_find_process(enrich, pid) : NULL;
    struct process_code *code = process ? process->code : NULL;
    size_t count = code ? code->wanted_count : 0;

    if (count == 0)
        return 0;
    if (count > capacity)
        count = capacity;
    code->wanted_count -= count;
    memcpy(out, code->wanted + code->wanted_count, count * sizeof(*out));
    return count;
}
