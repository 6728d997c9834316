/*
 * Events of the CLR in a trace.dat: how one lies in a page of the buffer "clr", and the format text
 * that tells every reader so.
 *
 *    0  u16 common_type           24  the event as the process told it: fixed fields, texts;
 *    2  u8  common_flags              offsets of its texts count from byte 0 of the record
 *    3  u8  common_preempt_count
 *    4  i32 common_pid            the thread, as in the kernel's records; -1 = unknown
 *    8  i32 common_process
 *   12  i32 common_cpu            -1 = unknown, then the record lies with CPU 0
 *   16  u32 common_marks          TRD_RECORD_F_…
 *   20  u32 common_size           bytes behind this head; the record is padded to four
 *
 * An id is 4096 times a base, chosen where the kernel has no ids, plus the event's own; all lie
 * below 32768 since KernelShark keeps 16 signed bits. A loss of a ring is the event clr:lost. One
 * event is of the file only: clr:thread_owner says, before the first record of a thread, whose it
 * is; who writes the file knows that from /proc.
 */
#ifndef TRD_COMMON_DAT_CLR_H
#define TRD_COMMON_DAT_CLR_H

#include <stdbool.h>

#include "dat_bytes.h"
#include "tracerd/catalog.h"
#include "tracerd/record.h"

#define DAT_CLR_BUFFER "clr"
#define DAT_CLR_HEAD 24
#define DAT_CLR_ID_MASK 0x0fffu
/* A head and the largest event. */
#define DAT_CLR_RECORD_MAX (DAT_CLR_HEAD + 65536)

#define DAT_CLR_OWNER 0xfffu /* id of clr:thread_owner, without the base */

/* Base of ids that the catalog (may be NULL) leaves free; 0 = there is none. */
uint32_t dat_clr_choose_base(const struct trd_catalog *catalog);
/* The formats as in the EVENT_FORMATS section: name of the system, count, u64 size and text each.
 */
void dat_clr_put_formats(struct dat_bytes *out, uint32_t base);
/* A record of a page; `out` has DAT_CLR_RECORD_MAX bytes. Its size, 0 = this is not one to write.
 */
size_t dat_clr_put(const struct trd_record *record, uint32_t base, uint8_t *out);
/* A record that says whose thread tid is. */
size_t dat_clr_put_owner(int32_t tid, int32_t pid, uint32_t base, uint8_t *out);
/*
 * The other way: completes *out (schema, data, size, pid, tid, cpu, flags, kind) from a record of
 * the buffer; its data is copied to `copy` (DAT_CLR_RECORD_MAX). clr:thread_owner becomes a
 * definition named "thread_owner". False if it is none of ours.
 */
bool dat_clr_get(const struct trd_schema *schema, const uint8_t *bytes, size_t size, uint8_t *copy,
                 struct trd_record *out);

#endif
