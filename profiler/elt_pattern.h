/*
 * Which methods are hooked: a list of globs over full names, as given with --methods and read once
 * at start. Pure: text in, answer out; asked once per compiled method, never in a hook.
 *
 *     Shop.Cart.*,!Shop.Cart.get_*,Shop.Orders+Line.Add
 *
 * Commas separate; `*` stands for any run of characters, dots included, `?` for one; `!` excludes.
 * A method is hooked if one pattern takes it and none excludes it, in whatever order they stand;
 * exclusions alone exclude from everything. What stands in <…> or […] behind a name, its type
 * arguments, need not be written: a pattern may fit the name with or without them.
 */
#ifndef TRD_PROFILER_ELT_PATTERN_H
#define TRD_PROFILER_ELT_PATTERN_H

#include <stdbool.h>
#include <stddef.h>

/* More patterns than that are a mistake; the text is that of one environment variable. */
#define ELT_PATTERNS_MAX 256

struct elt_patterns {
    /* private */
    struct elt_pattern {
        const char *glob; /* borrowed from the text given to parse */
        size_t size;
        bool excludes;
    } items[ELT_PATTERNS_MAX];
    size_t count;
    bool takes_some; /* there is a pattern that is no exclusion */
};

/* `text` must outlive the patterns. Empty items are skipped. 0, or -E2BIG: the rest is left out. */
int elt_patterns_parse(struct elt_patterns *patterns, const char *text);
/* `name` need not end with a NUL. */
bool elt_patterns_match(const struct elt_patterns *patterns, const char *name, size_t size);

#endif
