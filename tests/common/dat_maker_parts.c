#include "dat_maker_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char header_event[] = "# compressed entry header\n"
                                   "\ttype_len    :    5 bits\n"
                                   "\ttime_delta  :   27 bits\n"
                                   "\tarray       :   32 bits\n"
                                   "\n"
                                   "\tpadding     : type == 29\n"
                                   "\ttime_extend : type == 30\n"
                                   "\ttime_stamp : type == 31\n"
                                   "\tdata max type_len  == 28\n";

#define COMMON_FIELDS                                                                              \
    "format:\n"                                                                                    \
    "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"                         \
    "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"                         \
    "\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"                 \
    "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n"                                     \
    "\n"

static const char tick_format[] =
    "name: tick\nID: 400\n" COMMON_FIELDS
    "\tfield:unsigned long long number;\toffset:8;\tsize:8;\tsigned:0;\n"
    "\nprint fmt: \"number=%llu\", REC->number\n";

static const char print_format[] =
    "name: print\nID: 5\n" COMMON_FIELDS "\tfield:unsigned int ip;\toffset:8;\tsize:4;\tsigned:0;\n"
    "\tfield:char buf[];\toffset:12;\tsize:0;\tsigned:0;\n"
    "\nprint fmt: \"%s\", REC->buf\n";

void maker_put(struct dat_maker_bytes *out, const void *bytes, size_t size)
{
    if (size == 0)
        return;
    if (out->size + size > out->capacity) {
        out->capacity = (out->size + size) * 2;
        out->bytes = realloc(out->bytes, out->capacity);
        if (!out->bytes)
            abort();
    }
    if (bytes)
        memcpy(out->bytes + out->size, bytes, size);
    else
        memset(out->bytes + out->size, 0, size);
    out->size += size;
}

void maker_put_text(struct dat_maker_bytes *out, const char *text)
{
    maker_put(out, text, strlen(text) + 1);
}

void maker_put_number(const struct dat_maker *maker, struct dat_maker_bytes *out, uint64_t value,
                      size_t size)
{
    uint8_t bytes[8];

    page_maker_put(bytes, value, size, maker->big_endian);
    maker_put(out, bytes, size);
}

void maker_align(struct dat_maker_bytes *out, size_t size)
{
    maker_put(out, NULL, (size - out->size % size) % size);
}

void maker_mark(struct dat_maker *maker)
{
    if (maker->boundary_count < DAT_MAKER_BOUNDARIES)
        maker->boundaries[maker->boundary_count++] = maker->file.size;
}

static void put_headers(const struct dat_maker *maker, struct dat_maker_bytes *out)
{
    char header_page[512];
    int long_size = maker->long_size;

    (void)snprintf(header_page, sizeof(header_page),
                   "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
                   "\tfield: local_t commit;\toffset:8;\tsize:%d;\tsigned:1;\n"
                   "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
                   "\tfield: char data;\toffset:%d;\tsize:%u;\tsigned:1;\n",
                   long_size, 8 + long_size, maker->page_size - 8 - (uint32_t)long_size);
    maker_put_text(out, "header_page");
    maker_put_number(maker, out, strlen(header_page), 8);
    maker_put(out, header_page, strlen(header_page));
    maker_put_text(out, "header_event");
    maker_put_number(maker, out, strlen(header_event), 8);
    maker_put(out, header_event, strlen(header_event));
}

static void put_format(const struct dat_maker *maker, struct dat_maker_bytes *out, const char *text)
{
    maker_put_number(maker, out, strlen(text), 8);
    maker_put(out, text, strlen(text));
}

static void put_ftrace_formats(const struct dat_maker *maker, struct dat_maker_bytes *out)
{
    maker_put_number(maker, out, 1, 4);
    put_format(maker, out, print_format);
}

static void put_event_formats(const struct dat_maker *maker, struct dat_maker_bytes *out)
{
    maker_put_number(maker, out, 1, 4);
    maker_put_text(out, "test");
    maker_put_number(maker, out, 1, 4);
    put_format(maker, out, tick_format);
}

static void put_kallsyms(const struct dat_maker *maker, struct dat_maker_bytes *out)
{
    static const char text[] = "ffffffff81000000 T _stext\nffffffff81000040 T secondary\n";

    maker_put_number(maker, out, strlen(text), 4);
    maker_put(out, text, strlen(text));
}

static void put_printk(const struct dat_maker *maker, struct dat_maker_bytes *out)
{
    static const char text[] = "0xffffffff82000000 : \"hello\\n\"\n";

    maker_put_number(maker, out, strlen(text), 4);
    maker_put(out, text, strlen(text));
}

static void put_cmdlines(const struct dat_maker *maker, struct dat_maker_bytes *out)
{
    static const char text[] = "17 worker one\n";

    maker_put_number(maker, out, strlen(text), 8);
    maker_put(out, text, strlen(text));
}

void (*const maker_parts[MAKER_PARTS])(const struct dat_maker *, struct dat_maker_bytes *) = {
    put_headers, put_ftrace_formats, put_event_formats, put_kallsyms, put_printk, put_cmdlines,
};

void maker_put_option(const struct dat_maker *maker, struct dat_maker_bytes *out, uint16_t id,
                      const struct dat_maker_bytes *data)
{
    maker_put_number(maker, out, id, 2);
    maker_put_number(maker, out, data->size, 4);
    maker_put(out, data->bytes ? data->bytes : (const uint8_t *)"", data->size);
}

void maker_put_number_option(const struct dat_maker *maker, struct dat_maker_bytes *out,
                             uint16_t id, uint64_t value, size_t size)
{
    struct dat_maker_bytes data = { 0 };

    maker_put_number(maker, &data, value, size);
    maker_put_option(maker, out, id, &data);
    free(data.bytes);
}

void maker_put_start(struct dat_maker *maker)
{
    static const uint8_t magic[] = { 0x17, 0x08, 0x44, 't', 'r', 'a', 'c', 'i', 'n', 'g' };
    struct dat_maker_bytes *out = &maker->file;
    uint8_t words[2] = { maker->big_endian, maker->long_size };

    maker_put(out, magic, sizeof(magic));
    maker_put_text(out, maker->version == 6 ? "6" : "7");
    maker_put(out, words, 2);
    maker_put_number(maker, out, maker->page_size, 4);
}
