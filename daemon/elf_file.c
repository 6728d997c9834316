#include "elf_file.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct view {
    const uint8_t *bytes;
    size_t size;
};

/* A header inside the file, copied out, since nothing promises its alignment. */
static bool copy_at(const struct view *view, uint64_t offset, void *out, size_t size)
{
    if (offset > view->size || size > view->size - offset)
        return false;
    memcpy(out, view->bytes + offset, size);
    return true;
}

static bool program_header(const struct view *view, const Elf64_Ehdr *header, unsigned index,
                           Elf64_Phdr *out)
{
    return header->e_phentsize == sizeof(*out) && index < header->e_phnum &&
           header->e_phoff < view->size &&
           copy_at(view, header->e_phoff + (uint64_t)index * sizeof(*out), out, sizeof(*out));
}

/* Where in the file an address of the loaded image stands; the size of the file if nowhere. */
static uint64_t file_offset(const struct view *view, const Elf64_Ehdr *header, uint64_t address)
{
    Elf64_Phdr part;

    for (unsigned i = 0; program_header(view, header, i, &part); i++)
        if (part.p_type == PT_LOAD && address >= part.p_vaddr &&
            address - part.p_vaddr < part.p_filesz)
            return part.p_offset + (address - part.p_vaddr);
    return view->size;
}

static bool find_dynamic(const struct view *view, const Elf64_Ehdr *header, Elf64_Phdr *out)
{
    for (unsigned i = 0; program_header(view, header, i, out); i++)
        if (out->p_type == PT_DYNAMIC)
            return true;
    return false;
}

static bool next_entry(const struct view *view, const Elf64_Phdr *dynamic, size_t index,
                       Elf64_Dyn *out)
{
    uint64_t offset = (uint64_t)index * sizeof(*out);

    return offset < dynamic->p_filesz && dynamic->p_offset <= view->size &&
           copy_at(view, dynamic->p_offset + offset, out, sizeof(*out)) && out->d_tag != DT_NULL;
}

static int find_strings(const struct view *view, const Elf64_Ehdr *header,
                        const Elf64_Phdr *dynamic, struct elf_facts *out)
{
    uint64_t offset = view->size, size = 0;
    Elf64_Dyn entry;

    for (size_t i = 0; next_entry(view, dynamic, i, &entry); i++)
        if (entry.d_tag == DT_STRTAB)
            offset = file_offset(view, header, entry.d_un.d_ptr);
        else if (entry.d_tag == DT_STRSZ)
            size = entry.d_un.d_val;
    if (size == 0 || offset >= view->size || size > view->size - offset ||
        view->bytes[offset + size - 1] != '\0')
        return -EBADMSG;
    out->strings = (const char *)view->bytes + offset;
    out->strings_size = size;
    return 0;
}

static void take_needed(const struct view *view, const Elf64_Phdr *dynamic, struct elf_facts *out)
{
    Elf64_Dyn entry;

    for (size_t i = 0; next_entry(view, dynamic, i, &entry); i++)
        if (entry.d_tag == DT_NEEDED && entry.d_un.d_val < out->strings_size &&
            out->needed_count < ELF_NEEDED_MAX)
            (void)snprintf(out->needed[out->needed_count++], ELF_NAME_MAX, "%s",
                           out->strings + entry.d_un.d_val);
}

static void take_glibc(struct elf_facts *out)
{
    const char *end = out->strings + out->strings_size;

    for (const char *at = out->strings; at < end; at += strlen(at) + 1) {
        unsigned major, minor;

        if (sscanf(at, "GLIBC_%3u.%3u", &major, &minor) != 2)
            continue;
        if (major < out->glibc_major || (major == out->glibc_major && minor <= out->glibc_minor))
            continue;
        out->glibc_major = major;
        out->glibc_minor = minor;
    }
}

int elf_parse(const void *bytes, size_t size, struct elf_facts *out)
{
    const struct view view = { bytes, size };
    struct elf_facts facts = { 0 };
    Elf64_Ehdr header;
    Elf64_Phdr dynamic;
    int result = 0;

    if (!copy_at(&view, 0, &header, sizeof(Elf32_Ehdr)) ||
        memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
        (header.e_ident[EI_CLASS] != ELFCLASS32 && header.e_ident[EI_CLASS] != ELFCLASS64))
        return -EBADMSG;
    facts.bits = header.e_ident[EI_CLASS] == ELFCLASS64 ? 64 : 32;
    facts.machine = header.e_machine; /* at the same place in both classes */
    if (facts.bits == 64 && header.e_ident[EI_DATA] == ELFDATA2LSB) {
        if (!copy_at(&view, 0, &header, sizeof(header)))
            return -EBADMSG;
        if (find_dynamic(&view, &header, &dynamic)) {
            result = find_strings(&view, &header, &dynamic, &facts);
            if (result != 0)
                return result;
            take_needed(&view, &dynamic, &facts);
            take_glibc(&facts);
        }
    }
    *out = facts;
    return 0;
}

static int read_all(int fd, char **out_bytes, size_t *out_size)
{
    struct stat status;
    size_t size = 0;
    ssize_t got = 1;
    char *bytes;

    if (fstat(fd, &status) != 0)
        return -errno;
    if (!S_ISREG(status.st_mode) || status.st_size == 0 || status.st_size > ELF_SIZE_MAX)
        return -EBADMSG;
    bytes = malloc((size_t)status.st_size);
    if (!bytes)
        return -ENOMEM;
    while (got > 0 && size < (size_t)status.st_size) {
        got = read(fd, bytes + size, (size_t)status.st_size - size);
        size += got > 0 ? (size_t)got : 0;
    }
    *out_bytes = bytes;
    *out_size = size;
    return got < 0 ? -errno : 0;
}

int elf_open(struct elf_image *out, const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    size_t size = 0;
    int result;

    *out = (struct elf_image){ .bytes = NULL };
    if (fd < 0)
        return -errno;
    result = read_all(fd, &out->bytes, &size);
    close(fd);
    if (result == 0)
        result = elf_parse(out->bytes, size, &out->facts);
    if (result != 0)
        elf_close(out);
    return result;
}

void elf_close(struct elf_image *image)
{
    free(image->bytes);
    *image = (struct elf_image){ .bytes = NULL };
}

int elf_has_name(const struct elf_facts *facts, const char *name)
{
    size_t size = facts->strings_size;

    for (size_t at = 0; at < size; at += strlen(facts->strings + at) + 1)
        if (strcmp(facts->strings + at, name) == 0)
            return 1;
    return 0;
}

const char *elf_machine_name(unsigned machine, char *out, size_t size)
{
    switch (machine) {
    case EM_X86_64:
        return "x86-64";
    case EM_AARCH64:
        return "arm64";
    case EM_386:
        return "x86";
    case EM_ARM:
        return "arm";
    default:
        (void)snprintf(out, size, "machine %u", machine);
        return out;
    }
}
