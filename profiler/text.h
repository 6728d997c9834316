/*
 * UTF-16 of the runtime to UTF-8 of the stream. A lone surrogate, which .NET strings may hold,
 * becomes the three bytes its number would take in UTF-8: not valid, but kept; the JSON writer has
 * the rule for invalid bytes.
 */
#ifndef TRD_PROFILER_TEXT_H
#define TRD_PROFILER_TEXT_H

#include <stddef.h>
#include <stdint.h>

/* Bytes written; stops before the character that does not fit. No NUL is added. */
size_t text_from_utf16(const uint16_t *units, size_t count, char *out, size_t capacity);
/* The other way: units written; what is no UTF-8 becomes U+FFFD. No NUL is added. */
size_t text_to_utf16(const char *bytes, size_t size, uint16_t *out, size_t capacity);

#endif
