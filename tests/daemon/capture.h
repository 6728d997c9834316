/* What a function writes to standard output or standard error, as text. */
#ifndef TRACERD_TESTS_DAEMON_CAPTURE_H
#define TRACERD_TESTS_DAEMON_CAPTURE_H

struct capture {
    int fd;    /* STDOUT_FILENO or STDERR_FILENO */
    int saved; /* what it was */
    int file;
};

void capture_begin(struct capture *capture, int fd);
/* Allocated text. */
char *capture_end(struct capture *capture);
/* How many lines; the last one must be whole. */
unsigned capture_lines(const char *text);

#endif
