/* Is a text of somebody else's JSON? Pure, no allocation. */
#ifndef TRD_COMMON_JSON_CHECK_H
#define TRD_COMMON_JSON_CHECK_H

#include <stdbool.h>
#include <stddef.h>

/* Exactly one value (RFC 8259) without blanks, in well-formed UTF-8, nested at most 8 deep. */
bool json_check(const char *bytes, size_t size);

#endif
