/*
 * Evaluates a typed tree against one record. C's semantics as the kernel's compilers give them:
 * wrapping signed arithmetic, shift counts taken modulo the width, lazy `?:`, `&&`, `||`. What has
 * no value (division by zero, bytes behind the record's end, a function only the kernel can answer)
 * is a fault that travels up to whoever asked, never a signal. Allocates nothing.
 */
#ifndef TRD_COMMON_PRINT_EVAL_H
#define TRD_COMMON_PRINT_EVAL_H

#include "print_tree.h"
#include "tracerd/catalog.h"

struct print_record {
    const struct trd_catalog *catalog; /* symbols; may be NULL */
    const struct trd_schema *schema;
    const uint8_t *data;
    size_t size;
};

enum print_fault {
    PRINT_FAULT_NONE,
    PRINT_FAULT_DIVISION,
    PRINT_FAULT_SHORT,
    PRINT_FAULT_KERNEL,
};

struct print_value {
    /*
     * An integer or address, extended to 64 bits by its type. Pointers into the record have no
     * address; they count from 1 at its first byte, so that they compare and subtract as in C.
     */
    uint64_t bits;
    const uint8_t *bytes; /* what a pointer into the record or a literal points to, else NULL */
    size_t size;          /* readable bytes there */
    uint8_t fault;        /* enum print_fault */
};

struct print_value print_eval(const struct print_record *record, const struct node *node);

/* What a fault looks like in the text: `<division by zero>`. */
const char *print_fault_text(uint8_t fault);

#endif
