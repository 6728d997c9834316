#include "dat_section.h"

#include <errno.h>
#include <stdlib.h>

/* What sizes in headers of compressed sections lacked before 2023-06. */
#define SIZE_FAULT 4

int dat_section_find(const struct dat *dat, uint64_t offset, struct dat_section *out)
{
    struct cursor cursor = { dat->bytes, dat->size, 0, dat->big_endian, false };
    uint16_t flags;
    uint64_t size;

    memset(out, 0, sizeof(*out));
    out->at = offset;
    (void)cursor_take(&cursor, offset);
    out->id = cursor_u16(&cursor);
    flags = cursor_u16(&cursor);
    (void)cursor_u32(&cursor); /* its description in the strings section */
    size = cursor_u64(&cursor);
    if (cursor.failed || (flags & ~DAT_SECTION_COMPRESSED))
        return -EBADMSG;
    out->compressed = (flags & DAT_SECTION_COMPRESSED) != 0;
    out->open = size > dat->size - cursor.at || (size == 0 && out->id == DAT_OPTION_BUFFER);
    if (out->open)
        size = dat->size - cursor.at;
    out->cursor =
        (struct cursor){ dat->bytes + cursor.at, (size_t)size, 0, dat->big_endian, false };
    return 0;
}

/* Whether a section whose kind and size we can believe begins here. */
static bool is_plain(const struct dat *dat, uint64_t offset)
{
    struct dat_section section;

    return dat_section_find(dat, offset, &section) == 0 && section.id <= DAT_OPTION_LAST &&
           !section.open && section.cursor.size > 0;
}

int dat_section_next(const struct dat *dat, uint64_t *offset, struct dat_section *out)
{
    uint64_t at = *offset;

    if (!is_plain(dat, at) && is_plain(dat, at + SIZE_FAULT))
        at += SIZE_FAULT;
    if (dat_section_find(dat, at, out) != 0)
        return 0;
    /* Zeros, not a section: an options section holds at least its end. */
    if (out->id == DAT_OPTION_DONE && out->cursor.size == 0)
        return 0;
    *offset = (uint64_t)(out->cursor.bytes - dat->bytes) + out->cursor.size;
    return 1;
}

int dat_section_unpack(struct dat *dat, struct dat_section *section)
{
    uint32_t packed_size, size;
    const uint8_t *packed;

    if (!section->compressed)
        return 0;
    /* The inner size is right where the header's is not. */
    section->cursor.size = dat->size - (size_t)(section->cursor.bytes - dat->bytes);
    packed_size = cursor_u32(&section->cursor);
    size = cursor_u32(&section->cursor);
    packed = cursor_take(&section->cursor, packed_size);
    if (!packed || size > DAT_SECTION_MAX)
        return -EBADMSG;
    section->owned = malloc(size ? size : 1);
    if (!section->owned)
        return -ENOMEM;
    section->cursor = (struct cursor){ section->owned, size, 0, dat->big_endian, false };
    return codec_decompress(&dat->codec, packed, packed_size, section->owned, size);
}

void dat_section_finish(struct dat_section *section)
{
    free(section->owned);
    section->owned = NULL;
}
