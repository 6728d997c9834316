#include "kernel_catalog.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tracefs_instance.h"

static int visit_file(const char *folder, const char *system, format_visitor visit, void *context)
{
    char path[4096 + 8];
    size_t size;
    char *text;
    int result;

    (void)snprintf(path, sizeof(path), "%s/format", folder);
    text = read_whole(path, &size);
    if (!text)
        return 0;
    result = visit(context, system, text, size, path);
    free(text);
    return result;
}

/* The last component of a folder's path is the system of the events in its folders. */
static int visit_folder(const char *folder, format_visitor visit, void *context, bool is_root)
{
    const char *system = strrchr(folder, '/') ? strrchr(folder, '/') + 1 : folder;
    DIR *dir = opendir(folder);
    struct dirent *entry;
    int result = 0;

    if (!dir)
        return is_root ? -ENOENT : 0;
    while (result == 0 && (entry = readdir(dir))) {
        char path[4096];

        if (entry->d_name[0] == '.' || entry->d_type != DT_DIR)
            continue;
        if (snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name) >= (int)sizeof(path))
            continue;
        result = visit_file(path, system, visit, context);
        if (result == 0)
            result = visit_folder(path, visit, context, false);
    }
    (void)closedir(dir);
    return result;
}

int visit_formats(const char *root, format_visitor visit, void *context)
{
    return visit_folder(root, visit, context, true);
}

static int add_format(void *context, const char *system, const char *text, size_t size,
                      const char *path)
{
    int result = trd_catalog_add_format(context, system, text, size);

    if (result != 0)
        fprintf(stderr, "cannot add %s: %s\n", path, strerror(-result));
    return result;
}

static void add_file(struct trd_catalog *catalog, const char *path,
                     int (*add)(struct trd_catalog *, const char *, size_t))
{
    size_t size;
    char *text = read_whole(path, &size);

    if (text)
        (void)add(catalog, text, size);
    free(text);
}

static int add_btf(struct trd_catalog *catalog, const char *text, size_t size)
{
    return trd_catalog_add_btf(catalog, (const uint8_t *)text, size);
}

struct trd_catalog *kernel_catalog_create(void)
{
    struct trd_catalog *catalog;

    if (trd_catalog_create(&catalog, __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__, sizeof(long)) != 0)
        return NULL;
    add_file(catalog, "/sys/kernel/btf/vmlinux", add_btf);
    add_file(catalog, "/proc/kallsyms", trd_catalog_add_kallsyms);
    add_file(catalog, TRACEFS "/printk_formats", trd_catalog_add_printk_formats);
    if (visit_formats(TRACEFS "/events", add_format, catalog) != 0) {
        trd_catalog_destroy(catalog);
        return NULL;
    }
    return catalog;
}
