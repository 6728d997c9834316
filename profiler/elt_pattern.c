#include "elt_pattern.h"

#include <errno.h>
#include <string.h>

#include "event.h"

static void add(struct elt_patterns *patterns, const char *item, size_t size)
{
    struct elt_pattern *pattern = &patterns->items[patterns->count];
    bool excludes = item[0] == '!';

    if (size == (size_t)excludes)
        return;
    *pattern = (struct elt_pattern){ item + excludes, size - excludes, excludes };
    patterns->takes_some |= !excludes;
    patterns->count++;
}

int elt_patterns_parse(struct elt_patterns *patterns, const char *text)
{
    patterns->count = 0;
    patterns->takes_some = false;
    while (*text) {
        size_t size = strcspn(text, ",");

        if (size > 0) {
            if (patterns->count == ELT_PATTERNS_MAX)
                return -E2BIG;
            add(patterns, text, size);
        }
        text += size + (text[size] == ',');
    }
    return 0;
}

/* Goes back to the last star only: linear but for what that star has to try. */
static bool fits(const struct elt_pattern *pattern, const char *name, size_t size)
{
    const char *glob = pattern->glob, *glob_end = glob + pattern->size, *end = name + size;
    const char *star = NULL, *star_name = NULL;

    while (name < end) {
        if (glob < glob_end && *glob == '*') {
            star = glob++;
            star_name = name;
        } else if (glob < glob_end && (*glob == '?' || *glob == *name)) {
            glob++;
            name++;
        } else if (star) {
            glob = star + 1;
            name = ++star_name;
        } else {
            return false;
        }
    }
    while (glob < glob_end && *glob == '*')
        glob++;
    return glob == glob_end;
}

static bool decide(const struct elt_patterns *patterns, const char *name, size_t size,
                   bool *excluded)
{
    bool taken = !patterns->takes_some;

    for (size_t i = 0; i < patterns->count; i++) {
        const struct elt_pattern *pattern = &patterns->items[i];

        if (pattern->excludes ? *excluded : taken)
            continue;
        if (fits(pattern, name, size))
            *(pattern->excludes ? excluded : &taken) = true;
    }
    return taken;
}

/* Compilers write names in angle brackets too (<Main>$, <>c): those begin a name, type arguments
 * follow one. */
static bool begins_arguments(const char *name, size_t at)
{
    return (name[at] == '<' || name[at] == '[') && at > 0 && name[at - 1] != '.' &&
           name[at - 1] != '+' && name[at - 1] != ':';
}

/* The name without its type arguments; 0 if it has none. */
static size_t strip(const char *name, size_t size, char *out)
{
    size_t used = 0;
    int depth = 0;

    for (size_t i = 0; i < size; i++) {
        if (depth > 0)
            depth += (name[i] == '<' || name[i] == '[') - (name[i] == '>' || name[i] == ']');
        else if (begins_arguments(name, i))
            depth = 1;
        else
            out[used++] = name[i];
    }
    return used == size ? 0 : used;
}

bool elt_patterns_match(const struct elt_patterns *patterns, const char *name, size_t size)
{
    char plain[TRD_TEXT_MAX + 4];
    bool excluded = false, taken = false;
    size_t plain_size;

    if (patterns->count == 0 || size > sizeof(plain))
        return false;
    taken = decide(patterns, name, size, &excluded);
    plain_size = strip(name, size, plain);
    if (plain_size > 0)
        taken |= decide(patterns, plain, plain_size, &excluded);
    return taken && !excluded;
}
