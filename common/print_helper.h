/*
 * The helpers of print formats that make text: `__print_flags(…)` and its kin. A NODE_HELPER's
 * `op` says which; its arguments are in the order given here. Source:
 * include/trace/stages/stage3_trace_output.h, kernel/trace/trace_output.c.
 */
#ifndef TRD_COMMON_PRINT_HELPER_H
#define TRD_COMMON_PRINT_HELPER_H

#include "print_eval.h"
#include "print_out.h"

enum print_helper {
    HELPER_FLAGS,    /* value, cast to the width the kernel compares in; names; text: delimiter */
    HELPER_SYMBOLIC, /* the same without delimiter */
    HELPER_HEX,      /* pointer, length */
    HELPER_HEX_STR,
    HELPER_ARRAY,    /* pointer, count, element size */
    HELPER_HEX_DUMP, /* pointer, length, prefix type, row size, group size, with text; text: prefix
                      */
    HELPER_BITMASK,  /* pointer to longs */
};

/* Writes the helper's text; faults of its arguments appear in it. */
void print_helper(struct print_out *out, const struct print_record *record,
                  const struct node *helper);

#endif
