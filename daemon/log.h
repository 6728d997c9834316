/*
 * Messages for people, on stderr, one line each: a sentence, then fields:
 * `tracerd: cannot read ring page: cpu=3, error="Input/output error"`. Standard output is data
 * only.
 */
#ifndef TRACERD_DAEMON_LOG_H
#define TRACERD_DAEMON_LOG_H

enum log_level {
    LOG_LEVEL_ERROR,   /* always shown */
    LOG_LEVEL_NOTICE,  /* hidden by -q */
    LOG_LEVEL_VERBOSE, /* shown by -v */
};

void log_init(int quiet, int verbose);
void log_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_notice(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_verbose(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
