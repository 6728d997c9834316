#include "profiler_environment.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attach.h"
#include "event.h"
#include "option_values.h"

#define PATH_LENGTH_MAX 1023 /* of the runtime */

static int set_categories(uint32_t categories)
{
    char list[256] = "";
    size_t used = 0;

    for (int i = 0; i < TRD_CATEGORY_COUNT; i++)
        if (categories & TRD_CATEGORIES_ALL & 1u << i)
            used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%s", used ? "," : "",
                                     trd_category_name((enum trd_category)i));
    return setenv(TRD_ENV_CATEGORIES, list, 1);
}

/* The runtime reads the switch as a hexadecimal number. */
bool profiler_environment_is_taken(void)
{
    const char *enabled = getenv("CORECLR_ENABLE_PROFILING");

    return enabled && strtoul(enabled, NULL, 16) != 0 && getenv("CORECLR_PROFILER");
}

/* .NET 9 and 10 ignore an entry without its last semicolon, in a list of others too. */
static int join_others(const char *library)
{
    const char *others = getenv("CORECLR_NOTIFICATION_PROFILERS");
    size_t length = others ? strlen(others) : 0;
    const char *separator = length > 0 && others[length - 1] != ';' ? ";" : "";
    char *list;
    int result;

    if (asprintf(&list, "%s%s%s=%s;", others ? others : "", separator, library,
                 TRD_CLSID_NOTIFICATION_TEXT) < 0)
        return -1;
    result = setenv("CORECLR_NOTIFICATION_PROFILERS", list, 1) |
             setenv("CORECLR_ENABLE_NOTIFICATION_PROFILERS", "1", 1);
    free(list);
    return result;
}

static int take_main_slot(const char *library)
{
    /* Those for one architecture are looked at first. */
    static const char *const preferred[] = { "CORECLR_PROFILER_PATH_64", "CORECLR_PROFILER_PATH_32",
                                             "CORECLR_PROFILER_PATH_ARM64",
                                             "CORECLR_PROFILER_PATH_ARM32" };

    for (size_t i = 0; i < sizeof(preferred) / sizeof(preferred[0]); i++)
        unsetenv(preferred[i]);
    return setenv("CORECLR_ENABLE_PROFILING", "1", 1) |
           setenv("CORECLR_PROFILER", TRD_CLSID_MAIN_TEXT, 1) |
           setenv("CORECLR_PROFILER_PATH", library, 1);
}

int profiler_environment_set(const char *library, const char *socket_path, uint32_t categories,
                             bool follow)
{
    if (strlen(library) > PATH_LENGTH_MAX)
        return -ENAMETOOLONG;
    if (setenv(TRD_ENV_SOCKET, socket_path, 1) != 0 || set_categories(categories) != 0 ||
        (follow ? setenv(TRD_ENV_FOLLOW, "1", 1) : unsetenv(TRD_ENV_FOLLOW)) != 0 ||
        (profiler_environment_is_taken() ? join_others(library) : take_main_slot(library)) != 0)
        return -ENOMEM;
    return 0;
}

int profiler_environment_set_methods(const char *const *patterns, size_t count, bool arguments)
{
    char *list = NULL;
    size_t size = 0;
    FILE *stream;
    int result;

    if ((arguments ? setenv(TRD_ENV_ARGUMENTS, "1", 1) : unsetenv(TRD_ENV_ARGUMENTS)) != 0)
        return -ENOMEM;
    if (count == 0)
        return unsetenv(TRD_ENV_METHODS);
    stream = open_memstream(&list, &size);
    if (!stream)
        return -ENOMEM;
    for (size_t i = 0; i < count; i++)
        fprintf(stream, "%s%s", i > 0 ? "," : "", patterns[i]);
    result = fclose(stream) == 0 && setenv(TRD_ENV_METHODS, list, 1) == 0 ? 0 : -ENOMEM;
    free(list);
    return result;
}

int profiler_environment_set_providers(const char *const *providers, size_t count)
{
    char list[TRD_PROVIDERS_SIZE_MAX + 1];

    if (count == 0)
        return unsetenv(TRD_ENV_PROVIDERS);
    return option_join_providers(providers, count, list) && setenv(TRD_ENV_PROVIDERS, list, 1) == 0
               ? 0
               : -ENOMEM;
}

int profiler_environment_set_buffer(const struct trd_buffer *buffer)
{
    char text[32];

    if (buffer->total_bytes == 0)
        return 0;
    (void)snprintf(text, sizeof(text), "%u/%u", buffer->total_bytes, buffer->ring_bytes);
    return setenv(TRD_ENV_BUFFER, text, 1) == 0 ? 0 : -ENOMEM;
}

int profiler_environment_set_stamp(const char *clock)
{
    if (!clock)
        return unsetenv(TRD_ENV_STAMP);
    return setenv(TRD_ENV_STAMP, clock, 1) == 0 ? 0 : -ENOMEM;
}
