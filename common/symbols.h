/*
 * Kernel symbols by address, from the text of kallsyms (`/proc/kallsyms`, a trace.dat section):
 *
 *   ffffffff81000000 T _stext
 *   ffffffffc0a01000 t helper\t[module]
 *
 * Filled by the catalog, asked by JSON and by the kernel-text rendering. Picks what the kernel's
 * own look-up picks (kernel/kallsyms.c): of several names of one address the first, and a symbol
 * ends where the next address begins.
 */
#ifndef TRD_COMMON_SYMBOLS_H
#define TRD_COMMON_SYMBOLS_H

#include <stddef.h>
#include <stdint.h>

struct symbols;

struct symbol {
    const char *name;   /* borrowed from the table */
    const char *module; /* NULL for the kernel proper */
    uint64_t address;
    uint64_t size; /* 0 where no next symbol tells */
};

struct symbols *symbols_create(void); /* NULL: no memory */
void symbols_destroy(struct symbols *symbols);

/*
 * -EBADMSG if a line does not parse; the good ones are kept. Lines with address 0 (a reader without
 * the right to see them) are left out.
 */
int symbols_add(struct symbols *symbols, const char *text, size_t size);

/* 1 and the symbol that covers an address; 0 if none does. */
int symbols_find(const struct symbols *symbols, uint64_t address, struct symbol *out);
size_t symbols_count(const struct symbols *symbols);
/* By address, then by the order of the text; index below the count. */
void symbols_get(const struct symbols *symbols, size_t index, struct symbol *out);

#endif
