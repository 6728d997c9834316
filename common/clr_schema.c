/* The schemas of CLR events, made at compile time from proto/events.def and names.def. */
#include "tracerd/catalog.h"

#include <stddef.h>

#include "event.h"

#define TRD_NAME(value, name) { value, name },
#define TRD_NAMES(table, rows)                                                                     \
    static const struct trd_name entries_##table[] = { rows };                                     \
    static const struct trd_names names_##table = {                                                \
        entries_##table, sizeof(entries_##table) / sizeof(entries_##table[0]), UINT64_MAX          \
    };
#include "names.def"
#undef TRD_NAMES
#undef TRD_NAME

#define STORAGE_u8 TRD_STORAGE_INT
#define STORAGE_u16 TRD_STORAGE_INT
#define STORAGE_u32 TRD_STORAGE_INT
#define STORAGE_u64 TRD_STORAGE_INT
#define STORAGE_i32 TRD_STORAGE_INT
#define STORAGE_i64 TRD_STORAGE_INT
#define STORAGE_text TRD_STORAGE_DYN_CHARS
#define SIGNED_u8 false
#define SIGNED_u16 false
#define SIGNED_u32 false
#define SIGNED_u64 false
#define SIGNED_i32 true
#define SIGNED_i64 true
#define SIGNED_text false

/* `fixed` is the event's struct inside its own function: see proto/event.c. */
#define FIELD(type, ident, kind, table)                                                            \
    { .name = #ident,                                                                              \
      .declaration = "",                                                                           \
      .offset = offsetof(fixed, ident),                                                            \
      .size = sizeof(((fixed *)0)->ident),                                                         \
      .elem_size = STORAGE_##type == TRD_STORAGE_INT ? sizeof(((fixed *)0)->ident) : 1,            \
      .count = 1,                                                                                  \
      .storage = STORAGE_##type,                                                                   \
      .meaning = TRD_MEANING_##kind,                                                               \
      .is_signed = SIGNED_##type,                                                                  \
      .names = table },
#define TRD_FIELD(type, ident, meaning, doc) FIELD(type, ident, meaning, NULL)
#define TRD_NAMED(type, ident, meaning, table, doc) FIELD(type, ident, meaning, &names_##table)
#define TRD_EVENT(number, category, ident, full, doc, rows)                                        \
    static const struct trd_schema *schema_##ident(void)                                           \
    {                                                                                              \
        typedef struct trd_ev_##ident fixed;                                                       \
        static const struct trd_field fields[] = { rows };                                         \
        static const struct trd_schema schema = {                                                  \
            .system = "clr",                                                                       \
            .name = #ident,                                                                        \
            .full_name = full,                                                                     \
            .id = number,                                                                          \
            .is_clr = true,                                                                        \
            .long_size = 8,                                                                        \
            .fixed_size = sizeof(fixed),                                                           \
            .fields = fields,                                                                      \
            .field_count = sizeof(fields) / sizeof(fields[0]),                                     \
            .print_text = "",                                                                      \
        };                                                                                         \
                                                                                                   \
        return &schema;                                                                            \
    }
#include "events.def"
#undef TRD_EVENT

const struct trd_schema *trd_clr_schema(uint16_t event_id)
{
    switch (event_id) {
#define TRD_EVENT(number, category, ident, full, doc, rows)                                        \
    case number:                                                                                   \
        return schema_##ident();
#include "events.def"
    default:
        return NULL;
    }
}
