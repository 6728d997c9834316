/*
 * From points to a map: a straight line through all of them, and what the clocks deviated from it
 * in the course of time, by pieces of at least PIECE_NS between which it is interpolated. Times are
 * taken from the middle point on, so that doubles hold them exactly.
 */
#include <errno.h>
#include <stdlib.h>

#include "align_private.h"

#define POINTS_MIN 16 /* fewer agree by chance */
#define PIECES_MAX 256
#define PIECE_NS 50e6
#define PIECE_POINTS_MIN 8
#define KEPT_PERCENT 95
/* From a counter of 16 GHz to one of a hundredth of a second. */
#define TIME_LIMIT 9e18 /* fits into 64 bits with a sign */
#define RATE_MIN 0.0625
#define RATE_MAX 2e7
#define RATE_SLACK 1e-3 /* of clocks that both count nanoseconds */

struct knot {
    double from; /* from the middle point on */
    double deviation;
};

struct trd_alignment {
    uint64_t from_base, to_base;
    double rate, start; /* to = start + rate * from */
    struct knot knots[PIECES_MAX];
    size_t knot_count;
    size_t pairs;
    uint64_t error_ns;
};

static double larger(double a, double b)
{
    return a > b ? a : b;
}

/* Times of a hostile file lead anywhere. */
static double within(double a, double limit)
{
    return a > limit ? limit : a < -limit ? -limit : a;
}

static double magnitude(double a)
{
    return a < 0 ? -a : a;
}

static int compare_points(const void *a, const void *b)
{
    const struct align_point *left = a, *right = b;

    return left->from < right->from ? -1 : left->from > right->from;
}

static int compare_doubles(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;

    return left < right ? -1 : left > right;
}

static double median(double *values, size_t count)
{
    qsort(values, count, sizeof(*values), compare_doubles);
    return values[count / 2];
}

/* Differences wrap around as they should where one is below the base. */
static double x_of(const struct trd_alignment *map, uint64_t from)
{
    return (double)(int64_t)(from - map->from_base);
}

static double y_of(const struct trd_alignment *map, const struct align_point *point)
{
    return (double)(int64_t)(point->to - map->to_base);
}

static double line_at(const struct trd_alignment *map, double x)
{
    return map->start + map->rate * x;
}

static double deviation_at(const struct trd_alignment *map, double x)
{
    const struct knot *knots = map->knots;
    size_t low = 0, high = map->knot_count;

    if (high == 0)
        return 0;
    while (low < high) { /* the first knot beyond x */
        size_t middle = low + (high - low) / 2;

        if (knots[middle].from <= x)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0 || low == map->knot_count)
        return knots[low ? low - 1 : 0].deviation;
    return knots[low - 1].deviation + (knots[low].deviation - knots[low - 1].deviation) *
                                          (x - knots[low - 1].from) /
                                          (knots[low].from - knots[low - 1].from);
}

/* The medians of what pairs of points half the recording apart tell, so that a quarter of the
 * points may be wrong. */
static int find_line(struct trd_alignment *map, const struct align_point *points, size_t count,
                     double *work)
{
    size_t half = count / 2, used = 0;

    map->rate = 1;
    for (size_t i = 0; i + half < count; i++) {
        double width = x_of(map, points[i + half].from) - x_of(map, points[i].from);

        if (width > 0)
            work[used++] = (y_of(map, &points[i + half]) - y_of(map, &points[i])) / width;
    }
    if (used > 0)
        map->rate = median(work, used);
    if (!(map->rate > RATE_MIN && map->rate < RATE_MAX))
        return -EBADMSG;
    for (size_t i = 0; i < count; i++)
        work[i] = y_of(map, &points[i]) - map->rate * x_of(map, points[i].from);
    map->start = median(work, count);
    return 0;
}

/* Of the points in their order, those near the line; their number. */
static size_t keep_near(const struct trd_alignment *map, struct align_point *points, size_t count,
                        double tolerance)
{
    size_t kept = 0;

    for (size_t i = 0; i < count; i++)
        if (magnitude(y_of(map, &points[i]) - line_at(map, x_of(map, points[i].from))) <= tolerance)
            points[kept++] = points[i];
    return kept;
}

static void find_deviations(struct trd_alignment *map, const struct align_point *points,
                            size_t count, double *work)
{
    double first = x_of(map, points[0].from);
    double piece = (x_of(map, points[count - 1].from) - first) / PIECES_MAX;
    size_t begin = 0;

    if (piece * map->rate < PIECE_NS)
        piece = PIECE_NS / map->rate;
    for (size_t i = 0; i < count; i++) {
        double x = x_of(map, points[i].from);
        size_t used = i - begin + 1;
        double start = x_of(map, points[begin].from);

        work[i - begin] = y_of(map, &points[i]) - line_at(map, x);
        if (used < PIECE_POINTS_MIN || x - start < piece || map->knot_count == PIECES_MAX)
            continue;
        map->knots[map->knot_count++] = (struct knot){ (start + x) / 2, median(work, used) };
        begin = i + 1;
    }
}

static double largest_disagreement(const struct trd_alignment *map,
                                   const struct align_point *points, size_t count)
{
    double worst = 0;

    for (size_t i = 0; i < count; i++) {
        double x = x_of(map, points[i].from);
        double off = magnitude(y_of(map, &points[i]) - line_at(map, x) - deviation_at(map, x));

        worst = larger(worst, off + (double)points[i].error_ns);
    }
    return worst;
}

/* How far the next point is, in the other clock's time, where it is furthest. */
static double largest_distance(const struct trd_alignment *map, const struct align_point *points,
                               size_t count, const struct trd_evidence *from)
{
    double before = x_of(map, points[0].from) - x_of(map, from->first_ts);
    double behind = x_of(map, from->last_ts) - x_of(map, points[count - 1].from);
    double worst = larger(before, behind);

    for (size_t i = 1; i < count; i++)
        worst = larger(worst, (x_of(map, points[i].from) - x_of(map, points[i - 1].from)) / 2);
    return worst * map->rate;
}

static int fit(struct trd_alignment *map, struct align_point *points, size_t count,
               uint64_t tolerance_ns, bool same_unit, double *work)
{
    double span, tolerance = (double)tolerance_ns;
    size_t kept;

    if (find_line(map, points, count, work) != 0 ||
        (same_unit && magnitude(map->rate - 1) > RATE_SLACK))
        return -EBADMSG;
    /* Within a short time everything is near a line. */
    span =
        (x_of(map, points[count * 3 / 4].from) - x_of(map, points[count / 4].from)) * 2 * map->rate;
    if (tolerance_ns == 0)
        tolerance = span / 1000 > 1e6 ? 1e6 : span / 1000;
    kept = keep_near(map, points, count, tolerance);
    if (kept * 100 < count * KEPT_PERCENT)
        return -EBADMSG;
    find_deviations(map, points, kept, work);
    map->pairs = kept;
    return 0;
}

int align_map_create(struct trd_alignment **out, struct align_point *points, size_t count,
                     uint64_t tolerance_ns, bool same_unit, const struct trd_evidence *from)
{
    struct trd_alignment *map = calloc(1, sizeof(*map));
    double *work = malloc((count + 1) * sizeof(*work));
    int result = map && work ? 0 : -ENOMEM;
    double error;

    if (result == 0) {
        qsort(points, count, sizeof(*points), compare_points);
        map->from_base = points[count / 2].from; /* a wild one would cost the others digits */
        map->to_base = points[count / 2].to;
        result = fit(map, points, count, tolerance_ns, same_unit, work);
    }
    free(work);
    if (result != 0) {
        free(map);
        return result;
    }
    error = largest_disagreement(map, points, map->pairs) +
            largest_distance(map, points, map->pairs, from) * ALIGN_DRIFT_PPM / 1e6;
    map->error_ns = (uint64_t)within(error, TIME_LIMIT) + 2; /* both roundings */
    *out = map;
    return 0;
}

void trd_alignment_destroy(struct trd_alignment *alignment)
{
    free(alignment);
}

uint64_t trd_alignment_time(const struct trd_alignment *alignment, uint64_t ts)
{
    double x = x_of(alignment, ts);
    double y = within(line_at(alignment, x) + deviation_at(alignment, x), TIME_LIMIT);

    if (y < 0 && -y > (double)alignment->to_base)
        return 0;
    return alignment->to_base + (uint64_t)(int64_t)(y < 0 ? y - 0.5 : y + 0.5);
}

uint64_t trd_alignment_error_ns(const struct trd_alignment *alignment)
{
    return alignment->error_ns;
}

size_t trd_alignment_pairs(const struct trd_alignment *alignment)
{
    return alignment->pairs;
}

int trd_align_switches(struct trd_alignment **out, const struct trd_evidence *from,
                       const struct trd_evidence *to, uint64_t granularity_ns, bool same_unit)
{
    struct align_point *points = NULL;
    int64_t count = align_find_switches(from, to, &points);
    int result = -ENOENT;

    if (count < 0)
        return (int)count;
    /* Between two ticks a time may be any; half of that the points cannot show. */
    for (int64_t i = 0; i < count; i++)
        points[i].error_ns = granularity_ns / 2;
    if (count >= POINTS_MIN)
        result = align_map_create(out, points, (size_t)count, 2 * granularity_ns, same_unit, from);
    free(points);
    return result;
}
