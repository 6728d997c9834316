/*
 * A filter: an expression over the fields of an event, compiled once per schema and then run on
 * records before anything formats them. Used by the daemon's --filter, by bindings and views. Does
 * no I/O.
 *
 *   prev_state & D && next_prio < 100        comm ~ "dot*" || next_comm ~ "dot*"
 *   tid == 4242 && name == "raw_syscalls:sys_enter" && (id == 0 || args[2] > 0x10000)
 *   clr:gc_pause && dur > 50ms              clr:exception_thrown && type ==
 * "System.TimeoutException"
 *
 * Operators are C's with C's precedence: || && | ^ & == != < <= > >= << >> + - * / % and ! ~ - in
 * front of an operand. Numbers are decimal, 0x… or 0…, 64 bits wide; a time has its unit
 * behind it (ns, us, ms, s, m) and is a number of nanoseconds. Fields are widened with their sign;
 * an operation is unsigned when one side is an unsigned 64-bit field (or a literal beyond 2^63), as
 * in C. A number alone is a condition: not zero. A condition is no number, so that `flags & 2 ==
 * 2`, which C reads as `flags & (2 == 2)`, is refused.
 *
 * SYSTEM:EVENT alone is short for name == "SYSTEM:EVENT".
 *
 * Texts stand in "…", with C's escapes. `==` and `!=` compare whole, `~` and `!~` match a glob with
 * `*`, `?` and `[…]`. A field with named values (enum, flags) is a number; against a text its name
 * is meant, and the names of flags stand bare beside it: prev_state & (S | D). An id against a text
 * is the name of what it stands for.
 *
 * Events of a recording have no schema but their args as JSON: the same names find their values in
 * there, with numbers signed and flags without bare names.
 *
 * Names are those of the JSON line: cpu, pid, tid, ts, dur, thread, name and src of the line
 * itself, any other name is the event's field; `args.pid` is the field where both have one.
 * field[N] is an element of an array. What an event does not have (no such field, or of the other
 * type, record too short, division by zero) is unknown: a comparison with it holds neither plain
 * nor under `!`, and an event of which the whole does not hold is left out.
 *
 * Losses, definitions, heartbeats and anchors always pass: nothing may go missing unseen.
 */
#ifndef TRACERD_FILTER_H
#define TRACERD_FILTER_H

#include <stdbool.h>
#include <stddef.h>

#include "tracerd/catalog.h"
#include "tracerd/export.h"
#include "tracerd/json.h"
#include "tracerd/record.h"

#define TRD_FILTER_TEXT_MAX 4096 /* bytes of an expression */

struct trd_filter;

/* 0; -EINVAL with one sentence that names the position (of the first character: 1); -ENOMEM. */
TRD_EXPORT int trd_filter_create(struct trd_filter **out, const char *text, char *error,
                                 size_t error_size);
TRD_EXPORT void trd_filter_destroy(struct trd_filter *filter);

/* Who knows the names behind ids (method, thread, module, assembly), so that they can be compared
 * with texts; borrowed until destroy. */
TRD_EXPORT void trd_filter_set_names(struct trd_filter *filter, const struct trd_json_names *names);

/*
 * Is every name of the expression the field of some event, of these catalogs or of the CLR? 0, or
 * -ENOENT with a sentence that names what is nearest. Matching does not need it.
 */
TRD_EXPORT int trd_filter_check(const struct trd_filter *filter,
                                const struct trd_catalog *const *catalogs, size_t count,
                                char *error, size_t error_size);

/*
 * Does the record pass? Compiles at first sight of a schema (without memory for that, it passes),
 * so one thread at a time; schemas must outlive the filter.
 */
TRD_EXPORT bool trd_filter_match(struct trd_filter *filter, const struct trd_record *record);

/* What a filter leaves of the events of one kind. */
enum trd_filter_reach {
    TRD_FILTER_ALL,
    TRD_FILTER_SOME,
    TRD_FILTER_NONE,
};

/*
 * The filter for one kind of kernel event in the words of the kernel's own filters
 * (events/SYSTEM/EVENT/filter), as far as those can say it: it lets pass what trd_filter_match
 * does, maybe more. SOME: the text is in `out`, of TRD_FILTER_KERNEL_MAX bytes with its NUL; ALL:
 * nothing can be left to the kernel; NONE: no event of the kind passes.
 */
#define TRD_FILTER_KERNEL_MAX 4096 /* the kernel takes less than a page */
TRD_EXPORT enum trd_filter_reach trd_filter_kernel(const struct trd_filter *filter,
                                                   const struct trd_schema *schema, char *out);

/*
 * Can any record of the schema pass, or, without a schema, any span that has this name? False only
 * if none can, whatever its fields hold: then nobody needs to make it for the filter's sake.
 */
TRD_EXPORT bool trd_filter_may_match(const struct trd_filter *filter,
                                     const struct trd_schema *schema, const char *name);

#endif
