/* Options that mean the same in both versions: clock, machine, counted losses. */
#include "dat.h"

#include <stdio.h>
#include <stdlib.h>

char *dat_current_clock(const char *text, size_t size)
{
    const char *open = memchr(text, '[', size);
    const char *close = open ? memchr(open, ']', size - (size_t)(open - text)) : NULL;

    if (close)
        return strndup(open + 1, (size_t)(close - open - 1));
    while (size > 0 && (text[size - 1] == '\n' || text[size - 1] == '\0'))
        size--;
    return strndup(text, size);
}

/* Decimal or 0x…, as strtoll takes it. */
static int64_t parse_number(const struct cursor *option)
{
    char digits[32] = "";

    memcpy(digits, option->bytes,
           option->size < sizeof(digits) - 1 ? option->size : sizeof(digits) - 1);
    return (int64_t)strtoll(digits, NULL, 0);
}

/* Wraps around where a hostile file wants it; the kernel's own times do not come near. */
static void add_offset(struct dat *dat, int64_t number, int64_t unit_ns)
{
    dat->conversion.offset_ns =
        (int64_t)((uint64_t)dat->conversion.offset_ns + (uint64_t)number * (uint64_t)unit_ns);
}

static uint64_t find_count(const char *text, const char *name)
{
    const char *at = strstr(text, name);
    unsigned long long count;

    return at && sscanf(at + strlen(name), "%llu", &count) == 1 ? count : 0;
}

static int add_stat(struct dat *dat, int32_t cpu, uint64_t lost)
{
    struct dat_stat *stats;

    if (dat->stat_count == DAT_STATS_MAX)
        return 0;
    /* Doubles at powers of two. */
    if ((dat->stat_count & (dat->stat_count - 1)) == 0) {
        stats =
            realloc(dat->stats, (dat->stat_count ? dat->stat_count * 2 : 1) * sizeof(*dat->stats));
        if (!stats)
            return -1;
        dat->stats = stats;
    }
    dat->stats[dat->stat_count++] = (struct dat_stat){
        .buffer = dat->stat_buffer ? strdup(dat->stat_buffer) : NULL,
        .cpu = cpu,
        .lost = lost,
    };
    return 0;
}

/*
 * The kernel's per_cpu/cpuN/stats behind a line `CPU: N`; one option per CPU. Those of an instance
 * follow an option that only says `Buffer: NAME`.
 */
static void parse_stat(struct dat *dat, const struct cursor *option)
{
    char *text = strndup((const char *)option->bytes, option->size);
    char name[256];
    int cpu;

    if (!text)
        return;
    if (sscanf(text, " Buffer: %255[^\n]", name) == 1) {
        free(dat->stat_buffer);
        dat->stat_buffer = strdup(name);
    } else if (sscanf(text, " CPU: %d", &cpu) == 1) {
        /* "\noverrun" leaves out the one of "commit overrun". */
        (void)add_stat(dat, cpu,
                       find_count(text, "\noverrun: ") + find_count(text, "\ncommit overrun: ") +
                           find_count(text, "\ndropped events: "));
    }
    free(text);
}

uint64_t dat_counted_losses(const struct dat *dat, const struct dat_buffer *buffer, int32_t cpu)
{
    for (size_t i = 0; i < dat->stat_count; i++)
        if (dat->stats[i].cpu == cpu &&
            strcmp(dat->stats[i].buffer ? dat->stats[i].buffer : "", buffer->public.name) == 0)
            return dat->stats[i].lost;
    return 0;
}

static void parse_clock(struct dat *dat, const struct cursor *option)
{
    dat->clock_follows = option->size == 0;
    if (option->size > 0 && !dat->clock)
        dat->clock = dat_current_clock((const char *)option->bytes, option->size);
}

void dat_parse_option(struct dat *dat, uint16_t id, struct cursor *option)
{
    int result = 0;

    switch (id) {
    case DAT_OPTION_DATE: /* microseconds */
        add_offset(dat, parse_number(option), 1000);
        break;
    case DAT_OPTION_OFFSET:
        add_offset(dat, parse_number(option), 1);
        break;
    case DAT_OPTION_CPUSTAT:
        parse_stat(dat, option);
        break;
    case DAT_OPTION_TRACECLOCK:
        parse_clock(dat, option);
        break;
    case DAT_OPTION_UNAME:
        free(dat->uname);
        dat->uname = strndup((const char *)option->bytes, option->size);
        break;
    case DAT_OPTION_CPUCOUNT:
        dat->cpu_count = cursor_u32(option);
        break;
    case DAT_OPTION_TIME_SHIFT:
        result = dat_clock_parse_shift(&dat->conversion, option);
        break;
    case DAT_OPTION_TSC2NSEC:
        result = dat_clock_parse_tsc(&dat->conversion, option);
        break;
    default: /* known without use here, or unknown: skipped by its length (C1) */
        break;
    }
    if (result != 0)
        dat_add_damage(dat, option->size, "option %u is damaged; times are told without it", id);
}
