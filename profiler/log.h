/* The profiler's own log: a file named by TRACERD_LOG, else silence. Never the application's stdout
 * or stderr. Not for callbacks. */
#ifndef TRD_PROFILER_LOG_H
#define TRD_PROFILER_LOG_H

/* Reads the file's name, before that goes from the environment. */
void log_init(void);
void log_line(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
