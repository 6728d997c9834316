#include "capture.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

void capture_begin(struct capture *capture, int fd)
{
    fflush(stdout);
    fflush(stderr);
    capture->fd = fd;
    capture->saved = dup(fd);
    capture->file = memfd_create("capture", MFD_CLOEXEC);
    assert_true(capture->saved >= 0 && capture->file >= 0);
    assert_int_equal(dup2(capture->file, fd), fd);
}

char *capture_end(struct capture *capture)
{
    struct stat status;
    char *text;

    fflush(stdout);
    fflush(stderr);
    assert_int_equal(dup2(capture->saved, capture->fd), capture->fd);
    close(capture->saved);
    assert_int_equal(fstat(capture->file, &status), 0);
    text = calloc(1, (size_t)status.st_size + 1);
    assert_non_null(text);
    assert_int_equal(pread(capture->file, text, (size_t)status.st_size, 0), status.st_size);
    close(capture->file);
    return text;
}

unsigned capture_lines(const char *text)
{
    unsigned count = 0;

    for (; *text; text++) {
        count += *text == '\n';
        if (!text[1])
            assert_int_equal(*text, '\n');
    }
    return count;
}
