#include "symbols.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* A kernel with all modules has some 400,000; names of 512 bytes are the kernel's own limit. */
#define SYMBOLS_MAX (1u << 22)
#define NAMES_MAX (256u << 20)
/* An address farther behind its symbol than any function is long belongs to nothing we know. */
#define SYMBOL_SIZE_MAX (16u << 20)

struct entry {
    uint64_t address;
    uint32_t order; /* line number: ties keep the file's order */
    uint32_t name;  /* in names */
    uint32_t module;
};

struct symbols {
    struct entry *entries; /* owned, sorted by address */
    size_t count;
    size_t capacity;
    char *names; /* owned, NUL-terminated one after the other; offset 0 is the empty one */
    size_t names_size;
    size_t names_capacity;
    uint32_t last_module; /* neighbours share it */
};

struct symbols *symbols_create(void)
{
    return calloc(1, sizeof(struct symbols));
}

void symbols_destroy(struct symbols *symbols)
{
    if (!symbols)
        return;
    free(symbols->entries);
    free(symbols->names);
    free(symbols);
}

static int keep_name(struct symbols *symbols, const char *name, size_t size, uint32_t *out)
{
    size_t start = symbols->names_size ? symbols->names_size : 1;

    if (start + size + 1 > NAMES_MAX)
        return -ENOMEM;
    if (start + size + 1 > symbols->names_capacity) {
        size_t capacity = symbols->names_capacity ? symbols->names_capacity * 2 : 4096;
        char *names;

        while (capacity < start + size + 1)
            capacity *= 2;
        names = realloc(symbols->names, capacity);
        if (!names)
            return -ENOMEM;
        symbols->names = names;
        symbols->names_capacity = capacity;
        names[0] = '\0';
    }
    memcpy(symbols->names + start, name, size);
    symbols->names[start + size] = '\0';
    symbols->names_size = start + size + 1;
    *out = (uint32_t)start;
    return 0;
}

static int keep_module(struct symbols *symbols, const char *name, size_t size, uint32_t *out)
{
    const char *last = symbols->names + symbols->last_module;
    int result = 0;

    if (!symbols->last_module || strlen(last) != size || memcmp(last, name, size) != 0)
        result = keep_name(symbols, name, size, &symbols->last_module);
    *out = symbols->last_module;
    return result;
}

static int add_entry(struct symbols *symbols, const struct entry *entry)
{
    if (symbols->count == symbols->capacity) {
        size_t capacity = symbols->capacity ? symbols->capacity * 2 : 1024;
        struct entry *entries =
            capacity <= SYMBOLS_MAX ? realloc(symbols->entries, capacity * sizeof(*entries)) : NULL;

        if (!entries)
            return -ENOMEM;
        symbols->entries = entries;
        symbols->capacity = capacity;
    }
    symbols->entries[symbols->count++] = *entry;
    return 0;
}

static const char *take_hex(const char *at, const char *end, uint64_t *out)
{
    const char *start = at;

    *out = 0;
    for (; at < end && at - start < 16; at++) {
        int digit = *at >= '0' && *at <= '9'   ? *at - '0'
                    : *at >= 'a' && *at <= 'f' ? *at - 'a' + 10
                    : *at >= 'A' && *at <= 'F' ? *at - 'A' + 10
                                               : -1;

        if (digit < 0)
            break;
        *out = *out << 4 | (uint64_t)digit;
    }
    return at == start ? NULL : at;
}

static const char *skip_blanks(const char *at, const char *end)
{
    while (at < end && (*at == ' ' || *at == '\t'))
        at++;
    return at;
}

static const char *word_end(const char *at, const char *end)
{
    while (at < end && *at != ' ' && *at != '\t' && *at != '\0')
        at++;
    return at;
}

/* `address type name [module]`, without its newline. */
static int add_line(struct symbols *symbols, const char *at, const char *end)
{
    struct entry entry = { .order = (uint32_t)symbols->count };
    const char *stop;
    int result;

    at = take_hex(at, end, &entry.address);
    if (!at || end - at < 4 || at[0] != ' ' || at[2] != ' ')
        return -EBADMSG;
    if (entry.address == 0)
        return 0;
    at = skip_blanks(at + 2, end);
    stop = word_end(at, end);
    if (stop == at)
        return -EBADMSG;
    result = keep_name(symbols, at, (size_t)(stop - at), &entry.name);
    at = skip_blanks(stop, end);
    stop = word_end(at, end);
    if (result == 0 && stop - at > 2 && at[0] == '[' && stop[-1] == ']')
        result = keep_module(symbols, at + 1, (size_t)(stop - at) - 2, &entry.module);
    return result == 0 ? add_entry(symbols, &entry) : result;
}

static int compare_entries(const void *a, const void *b)
{
    const struct entry *left = a, *right = b;

    if (left->address != right->address)
        return left->address < right->address ? -1 : 1;
    return left->order < right->order ? -1 : left->order > right->order;
}

int symbols_add(struct symbols *symbols, const char *text, size_t size)
{
    const char *end = text + size;
    bool bad = false;

    while (text < end) {
        const char *newline = memchr(text, '\n', (size_t)(end - text));
        const char *line_end = newline ? newline : end;
        int result = line_end > text && *text ? add_line(symbols, text, line_end) : 0;

        if (result == -ENOMEM)
            return result;
        bad |= result != 0;
        text = line_end + 1;
    }
    if (symbols->count > 0)
        qsort(symbols->entries, symbols->count, sizeof(*symbols->entries), compare_entries);
    return bad ? -EBADMSG : 0;
}

/* The first entry whose address is above. */
static size_t upper_bound(const struct symbols *symbols, uint64_t address)
{
    size_t low = 0, high = symbols->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (symbols->entries[middle].address <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

int symbols_find(const struct symbols *symbols, uint64_t address, struct symbol *out)
{
    size_t next = upper_bound(symbols, address), at = next;
    const struct entry *entry;
    uint64_t size;

    if (at == 0)
        return 0;
    at--;
    while (at > 0 && symbols->entries[at - 1].address == symbols->entries[at].address)
        at--;
    entry = &symbols->entries[at];
    size = next < symbols->count ? symbols->entries[next].address - entry->address : 0;
    if (size > SYMBOL_SIZE_MAX)
        size = 0;
    if (address - entry->address > SYMBOL_SIZE_MAX)
        return 0;
    *out = (struct symbol){ .name = symbols->names + entry->name,
                            .module = entry->module ? symbols->names + entry->module : NULL,
                            .address = entry->address,
                            .size = size };
    return 1;
}

size_t symbols_count(const struct symbols *symbols)
{
    return symbols->count;
}

void symbols_get(const struct symbols *symbols, size_t index, struct symbol *out)
{
    const struct entry *entry = &symbols->entries[index];

    *out = (struct symbol){ .name = symbols->names + entry->name,
                            .module = entry->module ? symbols->names + entry->module : NULL,
                            .address = entry->address };
}
