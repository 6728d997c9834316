/* Frames of lines: every one that is whole is read back, whatever became of the others. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "zst_frames.h"

#define LINES 4000
#define PER_BATCH 40
#define LINE_NS UINT64_C(2000000) /* so that a frame, which spans a second, has 500 lines */

/* A file in memory that stops taking bytes, as a full disk does. */
struct disk {
    uint8_t *bytes; /* owned */
    size_t size, room;
    int error;
};

static int put(void *context, const void *bytes, size_t size)
{
    struct disk *disk = context;
    size_t fits = disk->room - disk->size < size ? disk->room - disk->size : size;

    memcpy(disk->bytes + disk->size, bytes, fits);
    disk->size += fits;
    return fits == size ? 0 : -disk->error;
}

static void open_disk(struct disk *disk, size_t room, int error)
{
    *disk = (struct disk){ .bytes = malloc(1 << 20), .room = room, .error = error };
    assert_non_null(disk->bytes);
}

static size_t make_line(char *out, unsigned number)
{
    return (size_t)sprintf(out, "{\"seq\":%u,\"text\":\"%u\"}\n", number,
                           number * 2654435761u); /* so that it does not pack to nothing */
}

/* 0, or what the disk said; *out_ended: the index is there. */
static int write_lines(struct disk *disk)
{
    static char text[PER_BATCH * 64];
    struct zst_writer *writer;
    uint64_t most;
    int result = 0;

    assert_int_equal(zst_writer_create(&writer, put, disk), 0);
    for (unsigned at = 0; at < LINES && result == 0; at += PER_BATCH) {
        struct line_batch batch = { .bytes = text,
                                    .count = PER_BATCH,
                                    .last_seq = at + PER_BATCH - 1,
                                    .first_ns = at * LINE_NS,
                                    .last_ns = (at + PER_BATCH - 1) * LINE_NS };

        for (unsigned i = 0; i < PER_BATCH; i++)
            batch.size += make_line(text + batch.size, at + i);
        result = zst_writer_lines(writer, &batch);
    }
    most = zst_writer_most(writer, 0);
    if (result == 0)
        result = zst_writer_end(writer);
    if (result == 0)
        assert_true(disk->size <= most);
    zst_writer_destroy(writer);
    return result;
}

/* Whole lines that come back, in *seen; whether all of the file was sound. */
static size_t read_lines(const uint8_t *bytes, size_t size, bool *seen, bool *out_sound)
{
    char path[] = "/tmp/tracerd-test-zst-XXXXXX", line[256], expected[256];
    struct zst_damage damage;
    size_t count = 0;
    unsigned number;
    FILE *file;
    int fd = mkstemp(path);

    memset(seen, 0, LINES);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, size), (ssize_t)size);
    close(fd);
    file = zst_open(path, &damage);
    assert_non_null(file);
    while (fgets(line, sizeof(line), file))
        if (sscanf(line, "{\"seq\":%u", &number) == 1 && number < LINES) {
            (void)make_line(expected, number);
            if (strcmp(line, expected) != 0)
                continue; /* cut where its frame was damaged */
            assert_false(seen[number]);
            seen[number] = true;
            count++;
        }
    *out_sound = damage.bytes == 0;
    fclose(file);
    unlink(path);
    return count;
}

/* Lines of the frames that end at or before `size`, by what the entries behind them say. */
static size_t lines_of_whole_frames(const struct disk *disk, size_t size)
{
    size_t lines = 0;

    for (size_t at = 0; at + 72 <= size; at++)
        if (memcmp(disk->bytes + at, "\x5a\x2a\x4d\x18\x40\0\0\0TRDI", 12) == 0)
            lines += disk->bytes[at + 56] | (size_t)disk->bytes[at + 57] << 8;
    return lines;
}

static bool seen[LINES];

static void test_what_was_written_comes_back(void **state)
{
    struct disk disk;
    bool sound;

    (void)state;
    open_disk(&disk, SIZE_MAX / 2, 0);
    assert_int_equal(write_lines(&disk), 0);
    assert_int_equal(lines_of_whole_frames(&disk, disk.size), LINES);
    assert_int_equal(read_lines(disk.bytes, disk.size, seen, &sound), LINES);
    assert_true(sound);
    free(disk.bytes);
}

static void test_a_file_cut_anywhere_has_its_whole_frames(void **state)
{
    struct disk disk;
    bool sound;

    (void)state;
    open_disk(&disk, SIZE_MAX / 2, 0);
    assert_int_equal(write_lines(&disk), 0);
    for (size_t cut = disk.size - 1; cut > 400; cut -= disk.size / 150 + cut % 3) {
        size_t count = read_lines(disk.bytes, cut, seen, &sound);
        size_t whole = lines_of_whole_frames(&disk, cut);

        assert_true(count >= whole);
        for (size_t i = 0; i < count; i++) /* a beginning of the stream, without a hole */
            assert_true(seen[i]);
    }
    free(disk.bytes);
}

static void test_a_full_or_broken_disk_is_told_and_keeps_its_whole_frames(void **state)
{
    static const int errors[] = { ENOSPC, EIO };
    bool sound;

    (void)state;
    for (size_t room = 100; room < 30000; room += 1777) {
        struct disk disk;
        int error = errors[room % 2];

        open_disk(&disk, room, error);
        assert_int_equal(write_lines(&disk), -error);
        assert_int_equal(disk.size, room);
        assert_true(read_lines(disk.bytes, disk.size, seen, &sound) >=
                    lines_of_whole_frames(&disk, disk.size));
        free(disk.bytes);
    }
}

static void test_damage_costs_its_own_frame_only(void **state)
{
    struct disk disk;
    uint32_t bits = 1;
    bool sound;

    (void)state;
    open_disk(&disk, SIZE_MAX / 2, 0);
    assert_int_equal(write_lines(&disk), 0);
    for (int i = 0; i < 100; i++) {
        size_t at;
        uint8_t before;

        bits = bits * 1664525 + 1013904223;
        at = (bits >> 4) % disk.size;
        before = disk.bytes[at];
        disk.bytes[at] ^= (uint8_t)(1u << (bits & 7));
        /* 500 lines a frame; a broken entry between two frames may cost both. */
        assert_true(read_lines(disk.bytes, disk.size, seen, &sound) >= LINES - 2 * 520);
        disk.bytes[at] = before;
    }
    free(disk.bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_was_written_comes_back),
        cmocka_unit_test(test_a_file_cut_anywhere_has_its_whole_frames),
        cmocka_unit_test(test_a_full_or_broken_disk_is_told_and_keeps_its_whole_frames),
        cmocka_unit_test(test_damage_costs_its_own_frame_only),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
