/*
 * Marks what libtracerd exports; whatever carries no mark is hidden. The same names stand in
 * common/libtracerd.map, where they get their version; a test holds headers, map and library
 * against each other.
 */
#ifndef TRACERD_EXPORT_H
#define TRACERD_EXPORT_H

#ifdef __cplusplus
#define TRD_EXPORT extern "C" __attribute__((visibility("default")))
#else
#define TRD_EXPORT __attribute__((visibility("default")))
#endif

#endif
