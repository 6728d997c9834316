#include "part_files.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "log.h"

#define DIGITS 6 /* at least; so that names sort as they were written */
#define DIGITS_MAX 18

char *part_files_path(const struct part_files *files, uint64_t number)
{
    char *path;

    return asprintf(&path, "%s%0*" PRIu64 "%s", files->stem, DIGITS, number, files->extension) < 0
               ? NULL
               : path;
}

static int by_number(const void *a, const void *b)
{
    const struct part_file *first = a, *second = b;

    return (first->number > second->number) - (first->number < second->number);
}

void part_files_add(struct part_files *files, uint64_t number, uint64_t bytes)
{
    struct part_file *list = realloc(files->list, (files->count + 1) * sizeof(*list));

    if (number >= files->next_number)
        files->next_number = number + 1;
    if (!list)
        return;
    files->list = list;
    list[files->count++] = (struct part_file){ number, bytes };
    files->bytes += bytes;
}

/* The number in `name`, which is base, digits, extension; 0 if it is something else. */
static uint64_t number_of(const struct part_files *files, const char *base, const char *name)
{
    size_t length = strlen(base), digits;

    if (strncmp(name, base, length) != 0)
        return 0;
    name += length;
    digits = strspn(name, "0123456789");
    return digits >= DIGITS && digits <= DIGITS_MAX && strcmp(name + digits, files->extension) == 0
               ? strtoull(name, NULL, 10)
               : 0;
}

static int scan(struct part_files *files)
{
    const char *slash = strrchr(files->stem, '/');
    const char *base = slash ? slash + 1 : files->stem;
    char *folder = slash ? strndup(files->stem, (size_t)(slash - files->stem) + 1) : strdup(".");
    DIR *directory = folder ? opendir(folder) : NULL;
    int result = !folder ? -ENOMEM : !directory ? -errno : 0;
    struct dirent *entry;
    struct stat status;

    while (result == 0 && (entry = readdir(directory))) {
        uint64_t number = number_of(files, base, entry->d_name);

        if (number > 0 && fstatat(dirfd(directory), entry->d_name, &status, 0) == 0)
            part_files_add(files, number, (uint64_t)status.st_size);
    }
    if (directory)
        closedir(directory);
    free(folder);
    if (files->count > 1)
        qsort(files->list, files->count, sizeof(*files->list), by_number);
    return result;
}

int part_files_init(struct part_files *files, const char *path, const char *extension)
{
    *files = (struct part_files){ .extension = extension, .next_number = 1 };
    if (asprintf(&files->stem, "%.*s.", (int)(strlen(path) - strlen(extension)), path) < 0) {
        files->stem = NULL;
        return -ENOMEM;
    }
    return scan(files);
}

void part_files_finish(struct part_files *files)
{
    free(files->stem);
    free(files->list);
}

bool part_files_delete_oldest(struct part_files *files)
{
    struct part_file oldest;
    char *path;
    bool gone;

    if (files->count == 0)
        return false;
    oldest = files->list[0];
    path = part_files_path(files, oldest.number);
    if (!path)
        return false;
    gone = unlink(path) == 0;
    if (gone)
        log_verbose("%s was deleted to make room: bytes=%" PRIu64, path, oldest.bytes);
    else if (errno != ENOENT) /* else somebody was faster */
        log_error("cannot delete an old part: path=%s, error=\"%s\"", path, strerror(errno));
    files->deleted += gone;
    files->deleted_bytes += gone ? oldest.bytes : 0;
    files->bytes -= oldest.bytes;
    memmove(files->list, files->list + 1, --files->count * sizeof(*files->list));
    free(path);
    return true;
}
