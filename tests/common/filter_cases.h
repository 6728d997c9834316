/* The record that generated filter expressions run on, and what the compiler says they give. */
#ifndef TRD_TESTS_FILTER_CASES_H
#define TRD_TESTS_FILTER_CASES_H

#include <stddef.h>
#include <stdint.h>

struct filter_record {
    uint16_t common_type;
    uint8_t common_flags, common_preempt_count;
    int32_t common_pid;
    int8_t s8;
    uint8_t u8;
    int16_t s16;
    uint16_t u16;
    int32_t s32;
    uint32_t u32;
    int64_t s64;
    uint64_t u64;
    int16_t array[4];
    char comm[16];
};

/* What the three-valued conditions give. */
enum {
    FILTER_FALSE,
    FILTER_TRUE,
    FILTER_UNKNOWN
};

struct filter_case {
    const char *text;
    int (*truth)(const struct filter_record *r);
};

extern const struct filter_case filter_cases[];
extern const size_t filter_case_count;

#endif
