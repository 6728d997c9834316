/*
 * Whose code lay at an address of a process, at a time: runs of native code, each valid from its
 * compilation until it is unloaded. Tiering adds bodies and takes none away, since old ones may
 * still run; what is put where something else lay ends that. One map for one process; the caller
 * brings the runs (clr:code) and the unloads. It does no I/O and has no thread of its own.
 */
#ifndef TRACERD_CODEMAP_H
#define TRACERD_CODEMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tracerd/export.h"

struct trd_codemap;

/* A run of native code. */
struct trd_code {
    uint64_t address;
    uint64_t size; /* bytes, at least 1 */
    uint64_t method;
    uint64_t from_ns;  /* 0 = since before anybody watched */
    uint64_t until_ns; /* UINT64_MAX = still there */
    uint64_t rejit;
    uint32_t version; /* which body of the method */
    uint8_t kind;     /* of the table code_kind */
    uint8_t part;     /* which run of the body */
};

struct trd_codemap_counts {
    uint64_t living;
    uint64_t ended;     /* kept for what happened while they lived */
    uint64_t forgotten; /* ended, and given up for want of room */
    uint64_t refused;   /* living, but there was no room */
    size_t bytes;
};

/* `limit`: how many runs are kept, living and ended. 0 or -ENOMEM. */
TRD_EXPORT int trd_codemap_create(struct trd_codemap **out, size_t limit);
TRD_EXPORT void trd_codemap_destroy(struct trd_codemap *map);

/*
 * Adds a run that was told at now_ns (its from_ns may be earlier; until_ns is not looked at). What
 * lived there and is something else ends at now_ns; the same run told again changes nothing but
 * that an earlier from_ns counts. 0; -EINVAL for a run without size or beyond the address space;
 * -ENOSPC at the limit, where what has ended is forgotten first; -ENOMEM.
 */
TRD_EXPORT int trd_codemap_add(struct trd_codemap *map, const struct trd_code *code,
                               uint64_t now_ns);
/* Which module the method belongs to, 0 = none; before or after its code is added. 0 or -ENOMEM. */
TRD_EXPORT int trd_codemap_set_module(struct trd_codemap *map, uint64_t method, uint64_t module);
/* The method's code, that of every method of the module, ends at ts_ns. */
TRD_EXPORT void trd_codemap_unload_method(struct trd_codemap *map, uint64_t method, uint64_t ts_ns);
TRD_EXPORT void trd_codemap_unload_module(struct trd_codemap *map, uint64_t module, uint64_t ts_ns);

/* The run that lay at the address at ts_ns; of several the one that began last. */
TRD_EXPORT bool trd_codemap_find(const struct trd_codemap *map, uint64_t address, uint64_t ts_ns,
                                 struct trd_code *out);
TRD_EXPORT void trd_codemap_count(const struct trd_codemap *map, struct trd_codemap_counts *out);

#endif
