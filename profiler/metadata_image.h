/*
 * Where a loaded module's metadata lies: the way through its PE image (ECMA-335 II.25) from the
 * address that the runtime gives. Pure, but that it looks at memory there; for metadata.c only.
 */
#ifndef TRD_PROFILER_METADATA_IMAGE_H
#define TRD_PROFILER_METADATA_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Of a header page; what is asked for below lies in the first one of any image. */
#define METADATA_IMAGE_HEAD 4096u

/*
 * `is_flat`: as the file has it; else its sections lie where the image wants them. The metadata's
 * place is told as an offset from the base, of which only the head is read; then the caller makes
 * sure that it is there. False for what is no image with metadata.
 */
bool metadata_image_cor(const uint8_t *head, bool is_flat, size_t *out_offset);
/* The same of the metadata, which the header of the runtime's own part (`cor`) tells. */
#define METADATA_IMAGE_COR 16u /* bytes of it that are read */
bool metadata_image_root(const uint8_t *head, bool is_flat, const uint8_t *cor, size_t *out_offset,
                         size_t *out_size);

#endif
