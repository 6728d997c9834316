/*
 * Text of format strings that live in kernel memory, by address: the `printk_formats` file of
 * tracefs, a trace.dat section. Lines `0xffffffff8281972f : "rcu %s\n"`. Filled by the catalog;
 * asked for bprint events and for `%s` of a pointer the kernel registered.
 */
#ifndef TRD_COMMON_PRINTK_H
#define TRD_COMMON_PRINTK_H

#include <stddef.h>
#include <stdint.h>

struct printk;

struct printk *printk_create(void); /* NULL: no memory */
void printk_destroy(struct printk *printk);
/* -EBADMSG if a line does not parse; the good ones are kept. */
int printk_add(struct printk *printk, const char *text, size_t size);
/* NULL if unknown. */
const char *printk_find(const struct printk *printk, uint64_t address);
/* By address; NULL past the end. */
const char *printk_get(const struct printk *printk, size_t index, uint64_t *out_address);

#endif
