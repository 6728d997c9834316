#include "printk.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "print_lex.h"

/* The kernel has some thousand; each line of a file that makes one is at least ten bytes. */
#define ENTRIES_MAX (1u << 20)

struct entry {
    uint64_t address;
    char *text; /* owned */
};

struct printk {
    struct entry *entries; /* owned, sorted by address */
    size_t count;
    size_t capacity;
};

struct printk *printk_create(void)
{
    return calloc(1, sizeof(struct printk));
}

void printk_destroy(struct printk *printk)
{
    if (!printk)
        return;
    for (size_t i = 0; i < printk->count; i++)
        free(printk->entries[i].text);
    free(printk->entries);
    free(printk);
}

static int reserve(struct printk *printk)
{
    size_t capacity = printk->capacity ? printk->capacity * 2 : 64;
    struct entry *entries;

    if (printk->count < printk->capacity)
        return 0;
    entries =
        capacity <= ENTRIES_MAX ? realloc(printk->entries, capacity * sizeof(*entries)) : NULL;
    if (!entries)
        return -ENOMEM;
    printk->entries = entries;
    printk->capacity = capacity;
    return 0;
}

/* The kernel escapes what it prints here as C does. */
static char *unescape(const char *at, const char *end)
{
    char *text = malloc((size_t)(end - at) + 1), *out = text;

    if (!text)
        return NULL;
    while (at < end)
        *out++ = (char)lexer_unescape(&at, end);
    *out = '\0';
    return text;
}

static int add_line(struct printk *printk, const char *line, const char *end)
{
    const char *open = memchr(line, '"', (size_t)(end - line));
    const char *close = open ? memrchr(line, '"', (size_t)(end - line)) : NULL;
    char digits[24] = "";
    char *stop;
    uint64_t address;
    int result = reserve(printk);

    if (result != 0)
        return result;
    if (!open || close == open)
        return -EBADMSG;
    memcpy(digits, line,
           (size_t)(open - line) < sizeof(digits) ? (size_t)(open - line) : sizeof(digits) - 1);
    address = strtoull(digits, &stop, 16);
    if (stop == digits || !strchr(stop, ':'))
        return -EBADMSG;
    printk->entries[printk->count].text = unescape(open + 1, close);
    if (!printk->entries[printk->count].text)
        return -ENOMEM;
    printk->entries[printk->count++].address = address;
    return 0;
}

static int compare_entries(const void *a, const void *b)
{
    const struct entry *left = a, *right = b;

    return left->address < right->address ? -1 : left->address > right->address;
}

int printk_add(struct printk *printk, const char *text, size_t size)
{
    const char *end = text + size;
    bool bad = false;

    while (text < end && *text) {
        const char *newline = memchr(text, '\n', (size_t)(end - text));
        const char *line_end = newline ? newline : end;
        int result = line_end > text ? add_line(printk, text, line_end) : 0;

        if (result == -ENOMEM)
            return result;
        bad |= result != 0;
        text = line_end + 1;
    }
    if (printk->count > 0)
        qsort(printk->entries, printk->count, sizeof(*printk->entries), compare_entries);
    return bad ? -EBADMSG : 0;
}

const char *printk_find(const struct printk *printk, uint64_t address)
{
    struct entry key = { .address = address };
    const struct entry *found = printk->count > 0 ? bsearch(&key, printk->entries, printk->count,
                                                            sizeof(key), compare_entries)
                                                  : NULL;

    return found ? found->text : NULL;
}

const char *printk_get(const struct printk *printk, size_t index, uint64_t *out_address)
{
    if (index >= printk->count)
        return NULL;
    *out_address = printk->entries[index].address;
    return printk->entries[index].text;
}
