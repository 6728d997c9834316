#include "alignment.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <string.h>

#include "log.h"
#include "tracerd/align.h"

/* "uptime" counts hundredths of a second (clock_t). */
#define UPTIME_TICK_NS 10000000

/* How clocks of the kernel (trace_clock) count. */
static const struct clock_kind {
    const char *name;
    bool in_ns;
    uint64_t granularity_ns;
} kinds[] = {
    { "mono", true, 0 }, { "local", true, 0 },    { "global", true, 0 },
    { "boot", true, 0 }, { "mono_raw", true, 0 }, { "tai", true, 0 },
    { "perf", true, 0 }, { "x86-tsc", false, 0 }, { "uptime", false, UPTIME_TICK_NS },
};

/* NULL: nobody knows, or it counts events ("counter"), between which any time may pass. */
static const struct clock_kind *kind_of(const struct source *source)
{
    for (size_t i = 0; source->clock && i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (strcmp(source->clock, kinds[i].name) == 0)
            return &kinds[i];
    return NULL;
}

struct source *alignment_reference(struct source *sources)
{
    for (struct source *source = sources; source; source = source->next)
        if (source->clock && strcmp(source->clock, "mono") == 0)
            return source;
    return sources;
}

static const char *boot_of(const struct source *source)
{
    return json_string_value(json_object_get(source->origin, "boot_id"));
}

/* A file that does not tell its boot is believed to be of the same one. */
static bool may_share_boot(const struct source *a, const struct source *b)
{
    const char *boot_a = boot_of(a), *boot_b = boot_of(b);

    return !boot_a || !boot_b || strcmp(boot_a, boot_b) == 0;
}

static bool shares_clock(const struct source *a, const struct source *b)
{
    return a->clock && b->clock && strcmp(a->clock, b->clock) == 0 && may_share_boot(a, b);
}

/* NULL: there is none to be had. */
static struct trd_evidence *gather(struct source *source)
{
    struct trd_evidence *evidence = NULL;

    if (!source->gather || trd_evidence_create(&evidence) != 0)
        return NULL;
    if (source->gather(source, evidence) == 0)
        return evidence;
    trd_evidence_destroy(evidence);
    return NULL;
}

/* Whatever bounds it more narrowly. 0, or why there is none, as tracerd/align.h has it. */
static int align(struct source *source, const struct source *reference,
                 const struct trd_evidence *from, const struct trd_evidence *to)
{
    const struct clock_kind *kind = kind_of(source), *other = kind_of(reference);
    struct trd_alignment *by_marks = NULL, *by_switches = NULL;
    uint64_t granularity;
    int result = -ENOENT;

    if (!kind || !other || !from)
        return -ENOENT;
    granularity =
        kind->granularity_ns > other->granularity_ns ? kind->granularity_ns : other->granularity_ns;
    if (to)
        result =
            trd_align_switches(&by_switches, from, to, granularity, kind->in_ns && other->in_ns);
    if (kind->in_ns && strcmp(reference->clock, "mono") == 0)
        (void)trd_align_marks(&by_marks, from);
    if (by_marks &&
        (!by_switches || trd_alignment_error_ns(by_marks) < trd_alignment_error_ns(by_switches))) {
        source->alignment = by_marks;
        source->aligned_by = "marks";
        trd_alignment_destroy(by_switches);
        return 0;
    }
    source->alignment = by_switches;
    source->aligned_by = "switches";
    trd_alignment_destroy(by_marks);
    return result;
}

static void tell_aligned(const struct source *source, const struct source *reference)
{
    log_notice("%s: its clock (%s) is aligned with that of %s by %s: pairs=%zu, times are off by "
               "at most %" PRIu64 " ns",
               source->name, source->clock, reference->name,
               strcmp(source->aligned_by, "marks") == 0 ? "marks of the time in it"
                                                        : "thread switches that both saw",
               trd_alignment_pairs(source->alignment), trd_alignment_error_ns(source->alignment));
}

static void tell_unaligned(const struct source *source, const struct source *reference, int error)
{
    log_notice("%s and %s have no clock in common%s: the records of the first are marked as "
               "unaligned",
               source->name, reference->name,
               error == -EBADMSG  ? ", and what both saw does not agree on one"
               : error == -ENOENT ? ", nor enough thread switches to find one"
                                  : "");
}

const struct source *alignment_decide(struct source *sources)
{
    struct source *reference = alignment_reference(sources);
    struct trd_evidence *to = NULL;

    for (struct source *source = sources; source; source = source->next) {
        struct trd_evidence *from = NULL;
        int error = 0;

        if (source == reference || shares_clock(source, reference))
            continue;
        if (may_share_boot(source, reference)) {
            from = gather(source);
            to = to ? to : gather(reference);
            error = align(source, reference, from, to);
            trd_evidence_destroy(from);
        }
        source->unaligned = !source->alignment;
        if (source->alignment)
            tell_aligned(source, reference);
        else
            tell_unaligned(source, reference, error);
    }
    trd_evidence_destroy(to);
    return reference;
}

void alignment_apply(const struct source *source, struct trd_record *record)
{
    if (source->unaligned)
        record->flags |= TRD_RECORD_F_UNALIGNED;
    if (!source->alignment)
        return;
    record->ts_ns = trd_alignment_time(source->alignment, record->ts_ns);
    if (record->kind == TRD_KIND_LOST)
        record->lost_from_ns = trd_alignment_time(source->alignment, record->lost_from_ns);
}
