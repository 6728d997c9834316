/* Shell patterns: `*`, `?`, `[a-z]`, `[!a-z]`, and `\` before a character that means itself. */
#include "filter_private.h"

/*
 * The class that *at stands on: does it hold c? *at moves behind it; false and *at unmoved if it
 * is never closed, then `[` means itself.
 */
static bool match_class(const char **at, const char *end, unsigned char c, bool *out_held)
{
    const char *p = *at + 1;
    bool inverted = p < end && (*p == '!' || *p == '^');
    bool held = false;

    p += inverted;
    for (const char *first = p; p < end && (*p != ']' || p == first); p++) {
        unsigned char low = (unsigned char)*p, high = low;

        if (p + 2 < end && p[1] == '-' && p[2] != ']') {
            high = (unsigned char)p[2];
            p += 2;
        }
        held |= c >= low && c <= high;
    }
    if (p >= end)
        return false;
    *at = p + 1;
    *out_held = held != inverted;
    return true;
}

/* One character of the pattern, no star, against c; *at moves behind it. */
static bool match_one(const char **at, const char *end, char c)
{
    bool held;

    if (**at == '?') {
        ++*at;
        return true;
    }
    if (**at == '[' && match_class(at, end, (unsigned char)c, &held))
        return held;
    if (**at == '\\' && *at + 1 < end)
        ++*at;
    return *(*at)++ == c;
}

/* On a mismatch the last star takes one character more; earlier stars need not be tried again. */
bool filter_glob(const char *pattern, size_t pattern_size, const char *text, size_t size)
{
    const char *at = pattern, *end = pattern + pattern_size, *text_end = text + size;
    const char *star = NULL, *behind = NULL;

    while (text < text_end) {
        if (at < end && *at == '*') {
            star = ++at;
            behind = text;
        } else if (at < end && match_one(&at, end, *text)) {
            text++;
        } else if (star) {
            at = star;
            text = ++behind;
        } else {
            return false;
        }
    }
    while (at < end && *at == '*')
        at++;
    return at == end;
}
