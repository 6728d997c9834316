#include "metadata_image.h"

#include "metadata_read.h"

#define DOS_MAGIC 0x5a4du
#define DOS_HEADER 0x3cu /* its member that tells where the next one is */
#define PE_MAGIC 0x4550u
#define PE_SECTIONS 6u
#define PE_OPTIONAL_SIZE 20u
#define PE_OPTIONAL 24u
#define PE32_MAGIC 0x10bu
#define PE64_MAGIC 0x20bu
#define PE32_DIRECTORIES 96u
#define PE64_DIRECTORIES 112u
#define IMAGE_SIZE 56u
#define COR_DIRECTORY 14u
#define DIRECTORY_SIZE 8u
#define SECTION_SIZE 40u
#define SECTIONS_MAX 96u
#define COR_METADATA 8u
#define METADATA_MAX (1u << 30)

struct image {
    const uint8_t *head;
    uint32_t optional; /* offsets in the head */
    uint32_t directories;
    uint32_t sections;
    uint32_t section_count;
    bool is_flat;
};

static bool read_headers(struct image *image)
{
    uint32_t pe, magic;

    if (read_u16(image->head) != DOS_MAGIC)
        return false;
    pe = read_u32(image->head + DOS_HEADER);
    if (pe > METADATA_IMAGE_HEAD / 2 || read_u32(image->head + pe) != PE_MAGIC)
        return false;
    image->section_count = read_u16(image->head + pe + PE_SECTIONS);
    image->optional = pe + PE_OPTIONAL;
    image->sections = image->optional + read_u16(image->head + pe + PE_OPTIONAL_SIZE);
    magic = read_u16(image->head + image->optional);
    if (magic != PE32_MAGIC && magic != PE64_MAGIC)
        return false;
    image->directories =
        image->optional + (magic == PE32_MAGIC ? PE32_DIRECTORIES : PE64_DIRECTORIES);
    return image->section_count <= SECTIONS_MAX &&
           image->sections + image->section_count * SECTION_SIZE <= METADATA_IMAGE_HEAD &&
           image->directories + (COR_DIRECTORY + 1) * DIRECTORY_SIZE <= image->sections &&
           read_u32(image->head + image->directories - sizeof(uint32_t)) > COR_DIRECTORY;
}

/* Where what the image calls `address` lies, `size` bytes of it. */
static bool locate(const struct image *image, uint32_t address, uint32_t size, size_t *out_offset)
{
    for (uint32_t i = 0; i < image->section_count; i++) {
        const uint8_t *section = image->head + image->sections + i * SECTION_SIZE;
        uint32_t at = read_u32(section + 12), raw_size = read_u32(section + 16);
        uint32_t raw = read_u32(section + 20);

        if (address < at || address - at >= raw_size || size > raw_size - (address - at))
            continue;
        *out_offset = image->is_flat ? (size_t)raw + (address - at) : address;
        return image->is_flat ||
               (size_t)address + size <= read_u32(image->head + image->optional + IMAGE_SIZE);
    }
    return false;
}

bool metadata_image_cor(const uint8_t *head, bool is_flat, size_t *out_offset)
{
    struct image image = { .head = head, .is_flat = is_flat };

    return read_headers(&image) &&
           locate(&image, read_u32(head + image.directories + COR_DIRECTORY * DIRECTORY_SIZE),
                  METADATA_IMAGE_COR, out_offset);
}

bool metadata_image_root(const uint8_t *head, bool is_flat, const uint8_t *cor, size_t *out_offset,
                         size_t *out_size)
{
    struct image image = { .head = head, .is_flat = is_flat };
    uint32_t size = read_u32(cor + COR_METADATA + 4);

    if (size > METADATA_MAX || !read_headers(&image) ||
        !locate(&image, read_u32(cor + COR_METADATA), size, out_offset))
        return false;
    *out_size = size;
    return true;
}
