#include "thread_names.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define THREAD_NAMES_MAX 4096 /* more named threads at once than any process should have */

struct thread_name {
    ThreadID thread;
    char *name; /* owned */
    size_t size;
};

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

size_t thread_names_get(ThreadID thread, char *text, size_t capacity)
{
    struct thread_name *entry;
    size_t size = 0;

    pthread_mutex_lock(&names_lock);
    entry = find_name(thread);
    if (entry) {
        size = entry->size < capacity ? entry->size : capacity;
        memcpy(text, entry->name, size);
    }
    pthread_mutex_unlock(&names_lock);
    return size;
}
