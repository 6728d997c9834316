/*
 * What print formats need of a kernel's BTF (`/sys/kernel/btf/vmlinux`, a trace.dat's BTF section):
 * values of enumerators, widths of integer typedefs. Built once from foreign bytes, then read-only.
 *
 *   | u16 magic 0xeb9f | u8 version | u8 flags | u32 header length | u32 type_off | type_len |
 *   | str_off | str_len | … types … | … strings … |       offsets count from the header's end
 *   type: | u32 name_off | u32 info: vlen 0-15, kind 24-28, flag 31 | u32 size or type | by kind |
 * Source: include/uapi/linux/btf.h. Knows nothing of functions, structs or variables.
 */
#ifndef TRD_COMMON_BTF_H
#define TRD_COMMON_BTF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct btf;

/* Keeps nothing of `bytes`. -EBADMSG for what is no BTF or contradicts itself, -ENOMEM. */
int btf_create(struct btf **out, const uint8_t *bytes, size_t size);
void btf_destroy(struct btf *btf);

/*
 * `value` is sign-extended for signed enums; false for a name that is no enumerator, or one of
 * several with different values.
 */
bool btf_enumerator(const struct btf *btf, const char *name, size_t size, int64_t *out_value);
/* A typedef (or enum by its tag) that ends at an integer. */
bool btf_integer_type(const struct btf *btf, const char *name, size_t size, uint8_t *out_size,
                      bool *out_signed);
size_t btf_enumerator_count(const struct btf *btf);

#endif
