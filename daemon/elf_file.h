/*
 * What doctor wants to know of an ELF file: for which machine it is, which libraries it needs, how
 * new a libc, and whether it exports a name. Pure functions over the file's bytes, which are
 * foreign: whatever does not fit is -EBADMSG. Files are read, not mapped: others may cut them.
 * Source: elf(5), System V gABI chapter 5.
 */
#ifndef TRACERD_DAEMON_ELF_FILE_H
#define TRACERD_DAEMON_ELF_FILE_H

#include <stddef.h>
#include <stdint.h>

#define ELF_NEEDED_MAX 16 /* a profiler library needs one or two */
#define ELF_NAME_MAX 64
#define ELF_SIZE_MAX (64 << 20) /* the largest a runtime brings has 10 MB */

struct elf_facts {
    unsigned bits;    /* 32 or 64 */
    unsigned machine; /* e_machine: EM_X86_64, EM_AARCH64 */
    char needed[ELF_NEEDED_MAX][ELF_NAME_MAX];
    size_t needed_count;
    /* Highest GLIBC_X.Y among its strings: what a library needs, what a libc offers; 0.0 = none. */
    unsigned glibc_major;
    unsigned glibc_minor;
    const char *strings; /* .dynstr; borrowed from the bytes */
    size_t strings_size;
};

struct elf_image {
    struct elf_facts facts; /* point into the bytes */
    char *bytes;            /* owned; NULL = none */
};

/* Of a 32-bit or foreign-endian file only bits and machine are told. */
int elf_parse(const void *bytes, size_t size, struct elf_facts *out);
/* Reads a regular file of at most ELF_SIZE_MAX. 0 or a negative errno. */
int elf_open(struct elf_image *out, const char *path);
void elf_close(struct elf_image *image);
/* Does the name stand in its dynamic strings, exported or imported? */
int elf_has_name(const struct elf_facts *facts, const char *name);
/* "x86-64", "arm64"; "machine 243" is written to `out` for others. */
const char *elf_machine_name(unsigned machine, char *out, size_t size);

#endif
