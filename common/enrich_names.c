/* Names behind the ids of a process, and which managed thread runs on which OS thread. */
#include "enrich_state.h"

#include <stdlib.h>
#include <string.h>

static uint64_t name_key(int32_t pid, enum trd_meaning meaning)
{
    return (uint64_t)(uint32_t)pid << 8 | (uint8_t)meaning;
}

static struct text *make_text(const char *bytes, size_t size)
{
    struct text *text = malloc(sizeof(*text) + size);

    if (text) {
        text->size = size;
        memcpy(text->bytes, bytes, size);
    }
    return text;
}

const char *enrich_resolve(void *context, int32_t pid, enum trd_meaning meaning, uint64_t id,
                           size_t *out_size)
{
    const struct trd_enrich *enrich = context;
    const struct text *text = idmap_get(&enrich->names, name_key(pid, meaning), id);

    if (!text)
        return NULL;
    *out_size = text->size;
    return text->bytes;
}

void enrich_forget_name(struct trd_enrich *enrich, int32_t pid, enum trd_meaning meaning,
                        uint64_t id)
{
    struct text *text = idmap_take(&enrich->names, name_key(pid, meaning), id);

    if (text)
        enrich->names_bytes -= text->size;
    free(text);
}

bool enrich_set_name(struct trd_enrich *enrich, int32_t pid, enum trd_meaning meaning, uint64_t id,
                     const char *bytes, size_t size)
{
    const struct text *known = idmap_get(&enrich->names, name_key(pid, meaning), id);
    struct text *text;
    void *old;

    if (known && known->size == size && memcmp(known->bytes, bytes, size) == 0)
        return false;
    enrich_forget_name(enrich, pid, meaning, id);
    if (size == 0)
        return known != NULL;
    text = enrich->names_bytes + size <= ENRICH_NAMES_BYTES_MAX ? make_text(bytes, size) : NULL;
    if (text && idmap_set(&enrich->names, name_key(pid, meaning), id, text, &old) == 0)
        enrich->names_bytes += size;
    else
        free(text);
    return true;
}

static int32_t tid_of(const struct trd_enrich *enrich, int32_t pid, uint64_t clr_thread)
{
    return (int32_t)(uintptr_t)idmap_get(&enrich->clr_tids, (uint32_t)pid, clr_thread) - 1;
}

int32_t enrich_name_thread(struct trd_enrich *enrich, int32_t pid, uint64_t clr_thread)
{
    int32_t tid = tid_of(enrich, pid, clr_thread);
    struct thread *thread = enrich_find_thread(enrich, tid);
    size_t size;
    const char *name = enrich_resolve(enrich, pid, TRD_MEANING_THREAD, clr_thread, &size);

    /* The OS thread may have gone over to another managed thread. */
    if (!thread || !thread->is_managed || thread->clr_thread != clr_thread)
        return tid;
    free(thread->name);
    thread->name = name ? make_text(name, size) : NULL;
    return tid;
}

void enrich_assign_thread(struct trd_enrich *enrich, int32_t pid, uint64_t clr_thread, int32_t tid)
{
    struct thread *thread = enrich_get_thread(enrich, tid);
    void *old;

    if (!thread)
        return;
    thread->pid = pid;
    thread->exited = false;
    thread->is_managed = true;
    thread->clr_thread = clr_thread;
    (void)idmap_set(&enrich->clr_tids, (uint32_t)pid, clr_thread, (void *)((uintptr_t)tid + 1),
                    &old);
    (void)enrich_name_thread(enrich, pid, clr_thread);
}

/* The id may come again for another thread, the OS thread may stay. */
void enrich_forget_thread(struct trd_enrich *enrich, int32_t pid, uint64_t clr_thread)
{
    int32_t tid = tid_of(enrich, pid, clr_thread);
    struct thread *thread = enrich_find_thread(enrich, tid);

    enrich_forget_name(enrich, pid, TRD_MEANING_THREAD, clr_thread);
    (void)idmap_take(&enrich->clr_tids, (uint32_t)pid, clr_thread);
    if (!thread || !thread->is_managed || thread->clr_thread != clr_thread)
        return;
    free(thread->name);
    thread->name = NULL;
    thread->is_managed = false;
}

struct purge {
    struct trd_enrich *enrich;
    int32_t pid;
};

static bool keep_name(const struct idmap_entry *entry, void *context)
{
    struct purge *purge = context;
    struct text *text = entry->value;

    if (entry->a >> 8 != (uint32_t)purge->pid)
        return true;
    purge->enrich->names_bytes -= text->size;
    free(text);
    return false;
}

static bool keep_clr_tid(const struct idmap_entry *entry, void *context)
{
    return entry->a != (uint32_t)((struct purge *)context)->pid;
}

static bool keep_thread(const struct idmap_entry *entry, void *context)
{
    struct thread *thread = entry->value;

    if (thread->pid != ((struct purge *)context)->pid)
        return true;
    free(thread->name);
    free(thread);
    return false;
}

void enrich_forget_process(struct trd_enrich *enrich, int32_t pid)
{
    struct purge purge = { enrich, pid };

    idmap_filter(&enrich->names, keep_name, &purge);
    idmap_filter(&enrich->clr_tids, keep_clr_tid, &purge);
    idmap_filter(&enrich->threads, keep_thread, &purge);
    event_sources_forget(&enrich->event_sources, pid);
}
