/*
 * `%p` and its extensions (Documentation/core-api/printk-formats.rst), as far as a record and the
 * symbols hold what the kernel would look at. Plain `%p` is hashed by the kernel; here it is the
 * raw address, as with the tracing option hash-ptr off.
 */
#ifndef TRD_COMMON_PRINT_POINTER_H
#define TRD_COMMON_PRINT_POINTER_H

#include "print_eval.h"
#include "print_out.h"

#define POINTER_EXTENSION_MAX 8

/* The letters behind `%p`, known and understood? Else it is shown as an address. */
bool pointer_is_known(const char *extension);

/*
 * `width` is the number given by `%*p…` (bytes of `h`, bits of `b`), -1 without one. `value` is no
 * fault.
 */
void print_pointer(struct print_out *out, const struct print_record *record, const char *extension,
                   struct print_value value, int64_t width);

/* `name+0x1c/0x60 [module]`, `name` alone without offset; the address where nothing is known. */
void print_symbol(struct print_out *out, const struct print_record *record, uint64_t address,
                  bool with_offset);

#endif
