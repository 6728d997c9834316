/*
 * Every generated expression as the C that it claims to be. Built with -fwrapv, as the filter's
 * numbers wrap, and without warnings about what people would not write.
 */
#include "filter_cases.h"

#include <fnmatch.h>
#include <stdbool.h>
#include <string.h>

static bool unknown;

#define UNKNOWN(value) (unknown = true, (value))
#define IS_MINUS_ONE(value) ((__typeof__(value))-1 < 0 && (value) == (__typeof__(value))-1)
#define DIVIDE(left, right)                                                                        \
    ({                                                                                             \
        __auto_type both_ = (left) + (right);                                                      \
        __typeof__(both_) left_ = (left), right_ = (right);                                        \
                                                                                                   \
        unknown |= right_ == 0;                                                                    \
        right_ == 0 ? 0 : IS_MINUS_ONE(right_) ? -left_ : left_ / right_;                          \
    })
#define REMAINDER(left, right)                                                                     \
    ({                                                                                             \
        __auto_type both_ = (left) + (right);                                                      \
        __typeof__(both_) left_ = (left), right_ = (right);                                        \
                                                                                                   \
        unknown |= right_ == 0;                                                                    \
        right_ == 0 || IS_MINUS_ONE(right_) ? 0 : left_ % right_;                                  \
    })
#define KNOWN(condition)                                                                           \
    ({                                                                                             \
        bool holds_;                                                                               \
                                                                                                   \
        unknown = false;                                                                           \
        holds_ = (condition);                                                                      \
        unknown ? FILTER_UNKNOWN : holds_ ? FILTER_TRUE : FILTER_FALSE;                            \
    })

static int not3(int a)
{
    return a == FILTER_UNKNOWN ? a : !a;
}

static int and3(int a, int b)
{
    if (a == FILTER_FALSE || b == FILTER_FALSE)
        return FILTER_FALSE;
    return a == FILTER_UNKNOWN || b == FILTER_UNKNOWN ? FILTER_UNKNOWN : FILTER_TRUE;
}

static int or3(int a, int b)
{
    return not3(and3(not3(a), not3(b)));
}

static bool glob(const char *pattern, const char *text)
{
    return fnmatch(pattern, text, 0) == 0;
}

#define NAME_(line) truth_##line
#define NAME(line) NAME_(line)
#define CASE(text, c)                                                                              \
    static int NAME(__LINE__)(const struct filter_record *r)                                       \
    {                                                                                              \
        (void)r;                                                                                   \
        return c;                                                                                  \
    }
#include "filter_cases.inc"
#undef CASE

const struct filter_case filter_cases[] = {
#define CASE(text, c) { text, NAME(__LINE__) },
#include "filter_cases.inc"
#undef CASE
};
const size_t filter_case_count = sizeof(filter_cases) / sizeof(filter_cases[0]);
