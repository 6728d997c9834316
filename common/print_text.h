/*
 * A print format compiled: its format string in pieces, each conversion with its argument's tree.
 * Made by print.c; rendered by print_text.c as the kernel's vsnprintf does it. Const once made.
 */
#ifndef TRD_COMMON_PRINT_TEXT_H
#define TRD_COMMON_PRINT_TEXT_H

#include "print_eval.h"
#include "print_out.h"
#include "print_pointer.h"

enum piece_flag {
    PIECE_LEFT = 1,
    PIECE_PLUS = 2,
    PIECE_SPACE = 4,
    PIECE_ALTERNATE = 8, /* # */
    PIECE_ZERO = 16,
};

struct print_piece {
    char conversion; /* 'd', 'u', 'x', 'X', 'o', 'c', 's', 'p'; 0 for literal text */
    uint8_t flags;
    uint8_t size;      /* of the integer: 1, 2, 4, 8 */
    int16_t width;     /* -1: none */
    int16_t precision; /* -1: none */
    char extension[POINTER_EXTENSION_MAX];
    const char *text; /* literal: the text; conversion without argument: what to show instead */
    uint32_t text_size;
    const struct node *argument;
    const struct node *width_argument; /* `*` */
    const struct node *precision_argument;
};

/*
 * The next piece of a format string; *at moves behind it. Arguments are left NULL, `*` is told by
 * out_stars: 1 width, 2 precision. False at the end.
 */
bool piece_next(const char **at, const char *end, uint8_t long_size, struct print_piece *out,
                unsigned *out_stars);

void print_pieces(struct print_out *out, const struct print_record *record,
                  const struct print_piece *pieces, size_t count);

#endif
