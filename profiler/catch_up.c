#include "catch_up.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "gate.h"
#include "names.h"
#include "sender.h"
#include "text.h"
#include "writer.h"

#define THREAD_NAMES_MAX 4096 /* more named threads at once than any process should have */

struct thread_name {
    ThreadID thread;
    char *name; /* owned */
    size_t size;
};

/* Written in callbacks that may block, read by the sender; never held across a call elsewhere. */
static pthread_mutex_t names_lock = PTHREAD_MUTEX_INITIALIZER;
static struct thread_name names[THREAD_NAMES_MAX];
static size_t name_count;

static struct thread_name *find_name(ThreadID thread)
{
    for (size_t i = 0; i < name_count; i++)
        if (names[i].thread == thread)
            return &names[i];
    return NULL;
}

void thread_names_set(ThreadID thread, const char *name, size_t size)
{
    char *copy = malloc(size + 1);
    struct thread_name *entry;

    if (!copy)
        return;
    memcpy(copy, name, size);
    copy[size] = '\0';

    pthread_mutex_lock(&names_lock);
    entry = find_name(thread);
    if (!entry && name_count < THREAD_NAMES_MAX) {
        entry = &names[name_count++];
        *entry = (struct thread_name){ .thread = thread };
    }
    if (entry) {
        char *old = entry->name;

        entry->name = copy;
        entry->size = size;
        copy = old;
    }
    pthread_mutex_unlock(&names_lock);
    free(copy);
}

void thread_names_remove(ThreadID thread)
{
    struct thread_name *entry;
    char *name = NULL;

    pthread_mutex_lock(&names_lock);
    entry = find_name(thread);
    if (entry) {
        name = entry->name;
        *entry = names[--name_count];
    }
    pthread_mutex_unlock(&names_lock);
    free(name);
}

void emit_module_load(struct corprof_info *info, ModuleID module, HRESULT status, uint16_t flags)
{
    struct trd_ev_module_load *event;
    struct writer writer;
    struct info_name path;
    char text[TRD_TEXT_MAX];
    AssemblyID assembly = 0;
    uintptr_t base = 0;
    size_t size = 0;

    if (SUCCEEDED(status) && info_module(info, module, &base, &assembly, &path))
        size = text_from_utf16(path.units, path.length, text, sizeof(text) - 1);
    event = WRITER_BEGIN(&writer, module_load, LOADER, (uint32_t)size + 1);
    if (!event)
        return;
    event->module = module;
    event->assembly = assembly;
    event->base = base;
    event->status = status;
    writer_text(&writer, &event->path, text, size);
    writer_flag(&writer, flags);
    writer_commit(&writer);
}

void emit_assembly_load(struct corprof_info *info, AssemblyID assembly, HRESULT status,
                        uint16_t flags)
{
    struct trd_ev_assembly_load *event;
    struct writer writer;
    struct info_name name;
    char text[TRD_TEXT_MAX];
    size_t size = 0;

    if (SUCCEEDED(status) && info_assembly(info, assembly, &name))
        size = text_from_utf16(name.units, name.length, text, sizeof(text) - 1);
    event = WRITER_BEGIN(&writer, assembly_load, LOADER, (uint32_t)size + 1);
    if (!event)
        return;
    event->assembly = assembly;
    event->status = status;
    writer_text(&writer, &event->name, text, size);
    writer_flag(&writer, flags);
    writer_commit(&writer);
}

void emit_thread_assigned(ThreadID thread, uint32_t os_tid, uint16_t flags)
{
    struct writer writer;
    struct trd_ev_thread_assigned *event = WRITER_BEGIN(&writer, thread_assigned, THREAD, 0);

    if (!event)
        return;
    event->thread = thread;
    event->os_tid = os_tid;
    writer_flag(&writer, flags);
    writer_commit(&writer);
}

void emit_thread_name(ThreadID thread, const char *name, size_t size, uint16_t flags)
{
    struct trd_ev_thread_name *event;
    struct writer writer;

    if (size > TRD_TEXT_MAX)
        size = TRD_TEXT_MAX;
    event = WRITER_BEGIN(&writer, thread_name, THREAD, (uint32_t)size + 1);
    if (!event)
        return;
    event->thread = thread;
    writer_text(&writer, &event->name, name, size);
    writer_flag(&writer, flags);
    writer_commit(&writer);
}

static void tell_module(void *context, UINT_PTR module)
{
    struct profiler *profiler = context;
    AssemblyID assembly = 0;
    struct info_name path;
    uintptr_t base;

    emit_module_load(profiler->info, module, S_OK, TRD_EVENT_F_CATCH_UP);
    if (info_module(profiler->info, module, &base, &assembly, &path) && assembly)
        emit_assembly_load(profiler->info, assembly, S_OK, TRD_EVENT_F_CATCH_UP);
    sender_flush();
}

static void tell_thread_name(ThreadID thread)
{
    char text[TRD_TEXT_MAX];
    struct thread_name *entry;
    size_t size = 0;

    pthread_mutex_lock(&names_lock);
    entry = find_name(thread);
    if (entry) {
        size = entry->size < sizeof(text) ? entry->size : sizeof(text);
        memcpy(text, entry->name, size);
    }
    pthread_mutex_unlock(&names_lock);
    if (size > 0)
        emit_thread_name(thread, text, size, TRD_EVENT_F_CATCH_UP);
}

static void tell_thread(void *context, UINT_PTR thread)
{
    struct profiler *profiler = context;
    struct trd_ev_thread_created *event;
    struct writer writer;
    DWORD os_tid;

    event = WRITER_BEGIN(&writer, thread_created, THREAD, 0);
    if (event) {
        event->thread = thread;
        writer_flag(&writer, TRD_EVENT_F_CATCH_UP);
        writer_commit(&writer);
    }
    if (info_os_thread(profiler->info, thread, &os_tid))
        emit_thread_assigned(thread, os_tid, TRD_EVENT_F_CATCH_UP);
    tell_thread_name(thread);
    sender_flush();
}

void catch_up(struct profiler *profiler)
{
    names_forget_methods();
    if (gate_wants(TRD_CATEGORY_THREAD))
        info_each_thread(profiler->info, tell_thread, profiler);
    if (gate_wants(TRD_CATEGORY_LOADER))
        info_each_module(profiler->info, tell_module, profiler);
}
