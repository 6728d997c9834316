#include "line_file.h"

#include "log.h"
#include "zst_frames.h"

int line_file_open(struct line_file *file, const char *path, bool packed)
{
    *file = (struct line_file){ 0 };
    if (packed && zst_writer_create(&file->writer, output_file_write, &file->file) != 0) {
        log_error("cannot open %s: no memory", path);
        return EXIT_NOTHING;
    }
    if (output_file_open(&file->file, path) == 0)
        return 0;
    zst_writer_destroy(file->writer);
    file->writer = NULL;
    return EXIT_USAGE;
}

int line_file_lines(struct line_file *file, const struct line_batch *batch)
{
    if (file->writer)
        return zst_writer_lines(file->writer, batch);
    file->bytes += batch->size;
    return output_file_write(&file->file, batch->bytes, batch->size);
}

int line_file_flush(struct line_file *file)
{
    return file->writer ? zst_writer_flush(file->writer) : 0;
}

int line_file_end(struct line_file *file)
{
    int result = file->writer && !file->file.failed ? zst_writer_end(file->writer) : 0;
    int closed = output_file_close(&file->file);

    zst_writer_destroy(file->writer);
    file->writer = NULL;
    return result != 0 ? result : closed;
}

uint64_t line_file_most(const struct line_file *file, uint64_t more)
{
    return file->writer ? zst_writer_most(file->writer, more) : file->bytes + more;
}
