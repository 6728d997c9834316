/*
 * Included in front of every file of the profiler. glibc 2.34 gave the symbols of libpthread and
 * libdl, which it took into libc, new versions with nothing else changed; a library linked there
 * would ask for 2.34. The versions of before are named instead: every later glibc still has them,
 * and in an earlier one .NET itself has loaded the libraries they are in. musl knows no versions
 * and takes the bare names. What remains is the floor that tests/profiler/exports.sh holds.
 */
#ifndef TRD_PROFILER_GLIBC_FLOOR_H
#define TRD_PROFILER_GLIBC_FLOOR_H

#ifndef __ASSEMBLER__
#include <features.h>

#if defined(__GLIBC__) && defined(__x86_64__)
#define TRD_GLIBC_BASE "GLIBC_2.2.5"
#elif defined(__GLIBC__) && defined(__aarch64__)
#define TRD_GLIBC_BASE "GLIBC_2.17"
#endif

#ifdef TRD_GLIBC_BASE
#define TRD_BASE_VERSION(symbol) __asm__(".symver " #symbol "," #symbol "@" TRD_GLIBC_BASE)
TRD_BASE_VERSION(dladdr);
TRD_BASE_VERSION(dlopen);
TRD_BASE_VERSION(pthread_create);
TRD_BASE_VERSION(pthread_getspecific);
TRD_BASE_VERSION(pthread_key_create);
TRD_BASE_VERSION(pthread_mutex_timedlock);
TRD_BASE_VERSION(pthread_mutex_trylock);
TRD_BASE_VERSION(pthread_once);
TRD_BASE_VERSION(pthread_setspecific);
TRD_BASE_VERSION(pthread_sigmask);
#endif
#endif

#endif
