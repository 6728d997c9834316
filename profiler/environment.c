#include "environment.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "attach.h"
#include "log.h"

#define NOTIFICATION_LIST "CORECLR_NOTIFICATION_PROFILERS"
#define NOTIFICATION_SWITCH "CORECLR_ENABLE_NOTIFICATION_PROFILERS"

extern char **environ;

static const char *const ours[] = { TRD_ENV_SOCKET, TRD_ENV_CATEGORIES, TRD_ENV_LOG,
                                    TRD_ENV_BUFFER, TRD_ENV_METHODS,    TRD_ENV_PROVIDERS,
                                    TRD_ENV_STAMP,  TRD_ENV_FOLLOW,     TRD_ENV_ARGUMENTS };
/* If CORECLR_PROFILER names this one. */
static const char *const main_slot[] = { "CORECLR_ENABLE_PROFILING", "CORECLR_PROFILER",
                                         "CORECLR_PROFILER_PATH", "CORECLR_PROFILER_PATH_64",
                                         "CORECLR_PROFILER_PATH_ARM64" };

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static bool is_named(const char *variable, const char *name)
{
    size_t length = strlen(name);

    return strncmp(variable, name, length) == 0 && variable[length] == '=';
}

static bool is_one_of(const char *variable, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (is_named(variable, names[i]))
            return true;
    return false;
}

/* `path={class};path={class};` without the entries of this class; NULL if nothing is left. */
static char *without_us(const char *variable)
{
    const char *at = variable + sizeof(NOTIFICATION_LIST "=") - 1;
    char *list = malloc(strlen(variable) + 1), *end;

    if (!list)
        return NULL;
    memcpy(list, variable, (size_t)(at - variable));
    end = list + (at - variable);
    while (*at) {
        size_t length = strcspn(at, ";");
        size_t whole = length + (at[length] == ';');
        const char *class = memmem(at, length, TRD_CLSID_NOTIFICATION_TEXT,
                                   sizeof(TRD_CLSID_NOTIFICATION_TEXT) - 1);

        if (!class) {
            memcpy(end, at, whole);
            end += whole;
        }
        at += whole;
    }
    *end = '\0';
    if (end[-1] != '=')
        return list;
    free(list);
    return NULL;
}

void environment_filter(char *variable, bool is_main, char **out)
{
    *out = variable;
    if (is_one_of(variable, ours, COUNT(ours)) ||
        (is_main && is_one_of(variable, main_slot, COUNT(main_slot))))
        *out = NULL;
    else if (is_named(variable, NOTIFICATION_LIST) && strstr(variable, TRD_CLSID_NOTIFICATION_TEXT))
        *out = without_us(variable);
}

/*
 * A new array takes the old one's place at once: a thread of the runtime that looks something up
 * meanwhile sees one or the other, whole. It is never freed.
 */
static void replace_environ(bool is_main)
{
    size_t count = 0, kept = 0;
    char **copy;

    while (environ && environ[count])
        count++;
    copy = calloc(count + 1, sizeof(*copy));
    if (!copy)
        return;
    for (size_t i = 0; i < count; i++) {
        environment_filter(environ[i], is_main, &copy[kept]);
        kept += copy[kept] != NULL;
    }
    __atomic_store_n(&environ, copy, __ATOMIC_RELEASE);
}

static void tell_runtime(struct corprof_info *info, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!info_lacks_environment(info, names[i]) && !info_unset_environment(info, names[i]))
            log_line("the runtime keeps %s for the children", names[i]);
}

void environment_clear(struct corprof_info *info, int info_version)
{
    const char *follow = getenv(TRD_ENV_FOLLOW);
    const char *class = getenv("CORECLR_PROFILER");
    bool is_main = class && strcasecmp(class, TRD_CLSID_MAIN_TEXT) == 0;

    if (follow && strcmp(follow, "1") == 0)
        return;
    replace_environ(is_main);
    /* A switch without its list loads nothing. */
    if (getenv(NOTIFICATION_SWITCH) && !getenv(NOTIFICATION_LIST))
        (void)unsetenv(NOTIFICATION_SWITCH);
    if (info_version < 11)
        return;
    tell_runtime(info, ours, COUNT(ours));
    if (is_main)
        tell_runtime(info, main_slot, COUNT(main_slot));
}
