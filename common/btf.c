#include "btf.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bytes.h"

#define BTF_MAGIC 0xeb9f
/* A kernel's BTF has some 150,000 types; this bounds memory for hostile bytes as well. */
#define TYPES_MAX (1u << 22)
#define TYPEDEF_CHAIN_MAX 16

enum btf_kind {
    KIND_INT = 1,
    KIND_PTR,
    KIND_ARRAY,
    KIND_STRUCT,
    KIND_UNION,
    KIND_ENUM,
    KIND_FWD,
    KIND_TYPEDEF,
    KIND_VOLATILE,
    KIND_CONST,
    KIND_RESTRICT,
    KIND_FUNC,
    KIND_FUNC_PROTO,
    KIND_VAR,
    KIND_DATASEC,
    KIND_FLOAT,
    KIND_DECL_TAG,
    KIND_TYPE_TAG,
    KIND_ENUM64,
};

struct name_value {
    const char *name; /* in `strings` */
    int64_t value;    /* enumerator's value; typedef's: size, negative if signed */
};

/* Sorted by name once filled. */
struct name_table {
    struct name_value *entries; /* owned */
    size_t count;
    size_t capacity;
};

struct btf {
    char *strings; /* owned */
    struct name_table enumerators;
    struct name_table types;
};

struct type_head {
    uint32_t name, info, size_or_type;
    uint32_t at; /* where the bytes by kind begin */
};

/* While reading; types are numbered from 1. */
struct reader {
    struct btf *btf;
    struct cursor types;
    uint32_t strings_size;
    struct type_head *heads; /* owned */
    uint32_t count;
};

static uint32_t kind_of(const struct type_head *head)
{
    return head->info >> 24 & 31;
}

static uint32_t vlen_of(const struct type_head *head)
{
    return head->info & 0xffff;
}

static uint64_t trailing_size(const struct type_head *head)
{
    switch (kind_of(head)) {
    case KIND_INT:
    case KIND_VAR:
    case KIND_DECL_TAG:
        return 4;
    case KIND_ARRAY:
        return 12;
    case KIND_STRUCT:
    case KIND_UNION:
    case KIND_DATASEC:
    case KIND_ENUM64:
        return (uint64_t)vlen_of(head) * 12;
    case KIND_ENUM:
    case KIND_FUNC_PROTO:
        return (uint64_t)vlen_of(head) * 8;
    default:
        return 0;
    }
}

static int read_heads(struct reader *reader)
{
    uint32_t capacity = 0;

    while (reader->types.at < reader->types.size) {
        struct type_head *head;

        if (reader->count == capacity) {
            capacity = capacity ? capacity * 2 : 1024;
            head = capacity <= TYPES_MAX ? realloc(reader->heads, capacity * sizeof(*reader->heads))
                                         : NULL;
            if (!head)
                return -ENOMEM;
            reader->heads = head;
        }
        head = &reader->heads[reader->count];
        head->name = cursor_u32(&reader->types);
        head->info = cursor_u32(&reader->types);
        head->size_or_type = cursor_u32(&reader->types);
        head->at = (uint32_t)reader->types.at;
        if (kind_of(head) == 0 || kind_of(head) > KIND_ENUM64 ||
            !cursor_take(&reader->types, trailing_size(head)))
            return -EBADMSG;
        reader->count++;
    }
    return 0;
}

static int add(struct reader *reader, struct name_table *table, uint32_t name, int64_t value)
{
    if (name >= reader->strings_size)
        return -EBADMSG;
    if (reader->btf->strings[name] == '\0')
        return 0;
    if (table->count == table->capacity) {
        size_t capacity = table->capacity ? table->capacity * 2 : 1024;
        struct name_value *entries = realloc(table->entries, capacity * sizeof(*entries));

        if (!entries)
            return -ENOMEM;
        table->entries = entries;
        table->capacity = capacity;
    }
    table->entries[table->count++] = (struct name_value){ reader->btf->strings + name, value };
    return 0;
}

static int read_enum(struct reader *reader, const struct type_head *head)
{
    bool wide = kind_of(head) == KIND_ENUM64, is_signed = head->info >> 31;
    int result = 0;

    reader->types.at = head->at;
    for (uint32_t i = 0; i < vlen_of(head) && result == 0; i++) {
        uint32_t name = cursor_u32(&reader->types);
        uint32_t low = cursor_u32(&reader->types);
        uint64_t high = wide ? cursor_u32(&reader->types) : 0;
        int64_t value = wide        ? (int64_t)(high << 32 | low)
                        : is_signed ? (int64_t)(int32_t)low
                                    : (int64_t)low;

        result = add(reader, &reader->btf->enumerators, name, value);
    }
    return result;
}

/* Typedefs and qualifiers down to an integer; NULL if there is something else below. */
static const struct type_head *integer_below(const struct reader *reader,
                                             const struct type_head *head)
{
    for (int i = 0; i < TYPEDEF_CHAIN_MAX; i++) {
        switch (kind_of(head)) {
        case KIND_INT:
        case KIND_ENUM:
        case KIND_ENUM64:
            return head;
        case KIND_TYPEDEF:
        case KIND_VOLATILE:
        case KIND_CONST:
        case KIND_TYPE_TAG:
            if (head->size_or_type == 0 || head->size_or_type > reader->count)
                return NULL;
            head = &reader->heads[head->size_or_type - 1];
            break;
        default:
            return NULL;
        }
    }
    return NULL;
}

static int read_typedef(struct reader *reader, const struct type_head *head)
{
    const struct type_head *integer = integer_below(reader, head);
    bool is_signed;

    if (!integer || integer->size_or_type > 8)
        return 0;
    reader->types.at = integer->at;
    /* u32 of an INT: encoding in the top byte, bit 0 of it says signed */
    is_signed =
        kind_of(integer) == KIND_INT ? cursor_u32(&reader->types) >> 24 & 1 : integer->info >> 31;
    return add(reader, &reader->btf->types, head->name,
               is_signed ? -(int64_t)integer->size_or_type : (int64_t)integer->size_or_type);
}

static int read_types(struct reader *reader)
{
    int result = read_heads(reader);

    for (uint32_t i = 0; i < reader->count && result == 0; i++) {
        const struct type_head *head = &reader->heads[i];

        if (kind_of(head) == KIND_ENUM || kind_of(head) == KIND_ENUM64)
            result = read_enum(reader, head);
        else if (kind_of(head) == KIND_TYPEDEF)
            result = read_typedef(reader, head);
    }
    return result;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(((const struct name_value *)a)->name, ((const struct name_value *)b)->name);
}

/* A name that stands for different values stands for none: which one is meant cannot be told. */
static void sort(struct name_table *table)
{
    size_t kept = 0, next;

    if (table->count == 0)
        return;
    qsort(table->entries, table->count, sizeof(*table->entries), compare_names);
    for (size_t i = 0; i < table->count; i = next) {
        bool same = true;

        for (next = i + 1;
             next < table->count && strcmp(table->entries[next].name, table->entries[i].name) == 0;
             next++)
            same &= table->entries[next].value == table->entries[i].value;
        if (same)
            table->entries[kept++] = table->entries[i];
    }
    table->count = kept;
}

/* Finds the two sections and copies the strings, so that names can be kept. */
static int read_header(struct reader *reader, const uint8_t *bytes, size_t size)
{
    struct cursor header = { .bytes = bytes, .size = size };
    uint32_t length, type_off, type_len, str_off, str_len;

    /* The magic tells the byte order. */
    if (size < 24)
        return -EBADMSG;
    header.big_endian = load_u16(bytes, false) != BTF_MAGIC;
    if (cursor_u16(&header) != BTF_MAGIC)
        return -EBADMSG;
    (void)cursor_u16(&header); /* version, flags */
    length = cursor_u32(&header);
    type_off = cursor_u32(&header);
    type_len = cursor_u32(&header);
    str_off = cursor_u32(&header);
    str_len = cursor_u32(&header);
    if (header.failed || (uint64_t)length + type_off + type_len > size ||
        (uint64_t)length + str_off + str_len > size || str_len == 0)
        return -EBADMSG;
    reader->types = (struct cursor){ .bytes = bytes + length + type_off,
                                     .size = type_len,
                                     .big_endian = header.big_endian };
    reader->btf->strings = malloc((size_t)str_len + 1);
    if (!reader->btf->strings)
        return -ENOMEM;
    memcpy(reader->btf->strings, bytes + length + str_off, str_len);
    reader->btf->strings[str_len] = '\0';
    reader->strings_size = str_len;
    return 0;
}

int btf_create(struct btf **out, const uint8_t *bytes, size_t size)
{
    struct btf *btf = calloc(1, sizeof(*btf));
    struct reader reader = { .btf = btf };
    int result;

    if (!btf)
        return -ENOMEM;
    result = read_header(&reader, bytes, size);
    if (result == 0)
        result = read_types(&reader);
    free(reader.heads);
    if (result != 0) {
        btf_destroy(btf);
        return result;
    }
    sort(&btf->enumerators);
    sort(&btf->types);
    *out = btf;
    return 0;
}

void btf_destroy(struct btf *btf)
{
    if (!btf)
        return;
    free(btf->enumerators.entries);
    free(btf->types.entries);
    free(btf->strings);
    free(btf);
}

static const struct name_value *find(const struct name_table *table, const char *name, size_t size)
{
    size_t low = 0, high = table->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const char *candidate = table->entries[middle].name;
        int order = strncmp(name, candidate, size);

        if (order == 0 && candidate[size] == '\0')
            return &table->entries[middle];
        if (order < 0 || order == 0) /* equal up to size: the candidate is longer */
            high = middle;
        else
            low = middle + 1;
    }
    return NULL;
}

bool btf_enumerator(const struct btf *btf, const char *name, size_t size, int64_t *out_value)
{
    const struct name_value *entry = find(&btf->enumerators, name, size);

    if (entry)
        *out_value = entry->value;
    return entry != NULL;
}

bool btf_integer_type(const struct btf *btf, const char *name, size_t size, uint8_t *out_size,
                      bool *out_signed)
{
    const struct name_value *entry = find(&btf->types, name, size);

    if (!entry)
        return false;
    *out_signed = entry->value < 0;
    *out_size = (uint8_t)(entry->value < 0 ? -entry->value : entry->value);
    return true;
}

size_t btf_enumerator_count(const struct btf *btf)
{
    return btf->enumerators.count;
}
