/*
 * A native program that hosts several .NET runtimes, one after the other or all at once:
 *
 *   two_runtimes APP.dll CORECLR_DIRECTORY…
 *
 * starts each runtime by its own libcoreclr.so and runs APP.dll in it, one after the other, while
 * those before stay loaded; APP gets no arguments. Prints "host N ended with X" for each; ends with
 * 100 if all of them ended with 0.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int (*initialize)(const char *exe, const char *domain, int count, const char **keys,
                          const char **values, void **out_host, unsigned *out_domain);
typedef int (*execute)(void *host, unsigned domain, int argc, const char **argv, const char *app,
                       unsigned *out_code);
typedef int (*shut_down)(void *host, unsigned domain, int *out_code);

struct runtime {
    void *host;
    unsigned domain;
    void *library;
};

/* Every .dll of the runtime, as a list with colons. */
static char *assemblies_in(const char *directory)
{
    DIR *entries = opendir(directory);
    struct dirent *entry;
    char *list = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&list, &size);

    while (entries && stream && (entry = readdir(entries)) != NULL) {
        size_t length = strlen(entry->d_name);

        if (length > 4 && strcmp(entry->d_name + length - 4, ".dll") == 0)
            fprintf(stream, "%s/%s:", directory, entry->d_name);
    }
    if (entries)
        closedir(entries);
    if (stream)
        fclose(stream);
    return list;
}

static int start(struct runtime *runtime, const char *directory, const char *app)
{
    char path[4096], app_directory[4096];
    const char *keys[] = { "TRUSTED_PLATFORM_ASSEMBLIES", "APP_PATHS",
                           "NATIVE_DLL_SEARCH_DIRECTORIES" };
    char *assemblies = assemblies_in(directory);
    const char *values[] = { assemblies, app_directory, directory };
    initialize begin;
    int result = -1;

    snprintf(path, sizeof(path), "%s/libcoreclr.so", directory);
    snprintf(app_directory, sizeof(app_directory), "%s", app);
    *strrchr(app_directory, '/') = '\0';
    runtime->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!runtime->library) {
        fprintf(stderr, "%s\n", dlerror());
    } else {
        begin = (initialize)dlsym(runtime->library, "coreclr_initialize");
        result = begin(app, "tests", 3, keys, values, &runtime->host, &runtime->domain);
        if (result != 0)
            fprintf(stderr, "coreclr_initialize of %s: 0x%08x\n", path, (unsigned)result);
    }
    free(assemblies);
    return result;
}

int main(int argc, char **argv)
{
    struct runtime runtimes[4] = { { 0 } };
    int good = 0, count = argc - 2;

    if (count < 1 || count > 4 || !strchr(argv[1], '/')) {
        fprintf(stderr, "usage: two_runtimes /PATH/APP.dll CORECLR_DIRECTORY…\n");
        return 2;
    }
    for (int i = 0; i < count; i++) {
        unsigned code = 99;
        execute run;

        if (start(&runtimes[i], argv[2 + i], argv[1]) != 0)
            continue;
        run = (execute)dlsym(runtimes[i].library, "coreclr_execute_assembly");
        if (run(runtimes[i].host, runtimes[i].domain, 0, NULL, argv[1], &code) != 0)
            code = 98;
        printf("host %d ended with %u\n", i, code);
        fflush(stdout);
        good += code == 0;
    }
    for (int i = 0; i < count; i++) {
        shut_down end =
            runtimes[i].host ? (shut_down)dlsym(runtimes[i].library, "coreclr_shutdown_2") : NULL;
        int code;

        if (end)
            (void)end(runtimes[i].host, runtimes[i].domain, &code);
    }
    return good == count ? 100 : 1;
}
