#include "ftrace_buffer.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ftrace_reader.h"

#define MEMORY_PART 1024
#define DEFAULT_MIN (UINT64_C(4) << 20)
#define DEFAULT_MAX (UINT64_C(64) << 20)
#define PAGE_SIZE_MAX (64u << 10) /* read() copies 8 GB/s of these, 4 GB/s of small ones */
#define PAGES_MIN 16
#define CPUS_MAX 4096

uint64_t ftrace_buffer_default(uint64_t memory_bytes, uint64_t cpus)
{
    uint64_t bytes = memory_bytes / MEMORY_PART / (cpus > 0 ? cpus : 1);

    bytes = bytes < DEFAULT_MAX ? bytes : DEFAULT_MAX;
    return bytes > DEFAULT_MIN ? bytes >> 20 << 20 : DEFAULT_MIN;
}

uint32_t ftrace_buffer_page_size(uint64_t ring_bytes, uint32_t smallest)
{
    uint32_t size = smallest;

    while (size < PAGE_SIZE_MAX && ring_bytes / (size * 2u) >= PAGES_MIN)
        size *= 2;
    return size;
}

static void note_missing(struct ftrace_buffer *buffer, const char *what)
{
    size_t used = strlen(buffer->missing);

    (void)snprintf(buffer->missing + used, sizeof(buffer->missing) - used, "%s%s",
                   used > 0 ? "; " : "", what);
}

static int write_number(const struct tracefs_instance *instance, const char *name, uint64_t number)
{
    char text[24];

    (void)snprintf(text, sizeof(text), "%llu", (unsigned long long)number);
    return tracefs_write(instance, name, text);
}

/* Kernels before 6.8 know sub-buffers of one page only. */
static void set_sizes(struct ftrace_buffer *buffer, const struct tracefs_instance *instance)
{
    uint32_t smallest = (uint32_t)sysconf(_SC_PAGESIZE);

    buffer->page_size = ftrace_buffer_page_size(buffer->ring_bytes, smallest);
    if (buffer->page_size > smallest &&
        write_number(instance, "buffer_subbuf_size_kb", buffer->page_size / 1024) != 0) {
        buffer->page_size = smallest;
        note_missing(buffer, "rings are read in pieces of one page, which costs more (Linux 6.8)");
    }
    if (write_number(instance, "buffer_size_kb", buffer->ring_bytes / 1024) != 0)
        note_missing(buffer, "rings have the kernel's default size, since it did not grant ours");
}

/* What is not needed to see the events. */
static void set_rest(struct ftrace_buffer *buffer, const struct tracefs_instance *instance,
                     const struct options *options)
{
    if (tracefs_write(instance, "options/overwrite", "1") != 0)
        note_missing(buffer, "a full ring may keep its oldest events instead of the newest");
    if (write_number(instance, "buffer_percent", FTRACE_READER_PERCENT) != 0)
        note_missing(buffer, "rings are looked at by time, not when they fill (Linux 5.0)");
    if (options->user_stacks && tracefs_write(instance, "options/userstacktrace", "1") != 0)
        note_missing(buffer, "there are no stacks of user space");
}

int ftrace_buffer_set_up(struct ftrace_buffer *out, const struct tracefs_instance *instance,
                         const struct options *options)
{
    uint64_t memory = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    int result;

    *out = (struct ftrace_buffer){ .failed = "tracing_on" };
    out->ring_bytes = options->kernel_buffer_bytes
                          ? (options->kernel_buffer_bytes + 1023) / 1024 * 1024
                          : ftrace_buffer_default(memory, (uint64_t)sysconf(_SC_NPROCESSORS_ONLN));
    result = tracefs_write(instance, "tracing_on", "0");
    if (result != 0)
        return result;
    out->failed = "trace_clock";
    result = tracefs_write(instance, "trace_clock", "mono");
    if (result != 0)
        return result;
    out->failed = NULL;
    set_sizes(out, instance);
    set_rest(out, instance, options);
    return 0;
}

static int compare_numbers(const void *a, const void *b)
{
    uint32_t first = *(const uint32_t *)a, second = *(const uint32_t *)b;

    return first < second ? -1 : first > second;
}

int ftrace_buffer_cpus(const struct tracefs_instance *instance, uint32_t **out_cpus,
                       size_t *out_count)
{
    uint32_t *cpus = calloc(CPUS_MAX, sizeof(*cpus));
    char path[2 * TRACEFS_PATH_MAX];
    struct dirent *entry;
    size_t count = 0;
    DIR *directory;

    if (!cpus)
        return -ENOMEM;
    (void)snprintf(path, sizeof(path), "%s/per_cpu", instance->path);
    directory = opendir(path);
    if (!directory) {
        int error = errno;

        free(cpus);
        return -error;
    }
    while ((entry = readdir(directory)))
        if (strncmp(entry->d_name, "cpu", 3) == 0 && count < CPUS_MAX)
            cpus[count++] = (uint32_t)strtoul(entry->d_name + 3, NULL, 10);
    closedir(directory);
    qsort(cpus, count, sizeof(*cpus), compare_numbers);
    *out_cpus = cpus;
    *out_count = count;
    return count > 0 ? 0 : -ENODEV;
}
