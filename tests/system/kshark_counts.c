/* What KernelShark's library sees in a file: a line `stream event count` for each. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libkshark-tepdata.h>
#include <libkshark.h>

#define NAMES_MAX 4096

struct count {
    char *name;
    unsigned long count;
};

static int count_name(struct count *counts, size_t *used, char *name)
{
    for (size_t i = 0; i < *used; i++)
        if (strcmp(counts[i].name, name) == 0) {
            counts[i].count++;
            free(name);
            return 0;
        }
    if (*used == NAMES_MAX)
        return -1;
    counts[(*used)++] = (struct count){ name, 1 };
    return 0;
}

static int print_stream(struct kshark_context *context, int stream)
{
    static struct count counts[NAMES_MAX];
    struct kshark_entry **entries = NULL;
    ssize_t entry_count = kshark_load_entries(context, stream, &entries);
    size_t used = 0;

    if (entry_count < 0)
        return 1;
    for (ssize_t i = 0; i < entry_count; i++) {
        char *name = kshark_get_event_name(entries[i]);

        if (!name || count_name(counts, &used, name) != 0)
            return 1;
    }
    for (size_t i = 0; i < used; i++)
        printf("%d %s %lu\n", stream, counts[i].name, counts[i].count);
    return 0;
}

int main(int argc, char **argv)
{
    struct kshark_context *context = NULL;
    int stream, result = 0;

    if (argc != 2 || !kshark_instance(&context))
        return 2;
    stream = kshark_open(context, argv[1]);
    if (stream < 0 || kshark_tep_init_all_buffers(context, stream) < 0)
        return 1;
    for (int i = 0; i < context->n_streams && result == 0; i++)
        result = print_stream(context, i);
    kshark_free(context);
    return result;
}
