/*
 * Tokens of a print format: the C subset that `print fmt` lines of format files are written in.
 * Used by the print-format parser only. Works in place on the text, copies nothing, keeps no state
 * but its position; foreign bytes that are no token come out as TOKEN_BAD.
 */
#ifndef TRD_COMMON_PRINT_LEX_H
#define TRD_COMMON_PRINT_LEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum token_kind {
    TOKEN_END,
    TOKEN_BAD,
    TOKEN_NAME,
    TOKEN_NUMBER,
    TOKEN_CHAR,
    TOKEN_STRING, /* with its quotes; adjacent ones are not joined yet */
    TOKEN_PUNCTUATION,
};

struct token {
    uint8_t kind; /* enum token_kind */
    /* PUNCTUATION: its characters packed, first one lowest: '+', PUNCT2('-', '>'), … */
    uint32_t punctuation;
    const char *text; /* borrowed from the print format */
    uint32_t size;
};

#define PUNCT2(a, b) ((uint32_t)(a) | (uint32_t)(b) << 8)
#define PUNCT3(a, b, c) (PUNCT2(a, b) | (uint32_t)(c) << 16)

struct lexer {
    const char *at;
    const char *end;
    struct token token; /* the current one */
};

/* Stands on the first token afterwards. */
void lexer_init(struct lexer *lexer, const char *text, size_t size);
void lexer_next(struct lexer *lexer);
/* The token behind the current one. */
struct token lexer_peek(const struct lexer *lexer);

bool token_is(const struct token *token, uint32_t punctuation);
bool token_is_name(const struct token *token, const char *name);

/*
 * The character at *at, behind an escape or plain, and moves *at behind it. *at must be before
 * end.
 */
uint8_t lexer_unescape(const char **at, const char *end);

/*
 * Value of a NUMBER by C's rules for literals: out_size 4, 8 or long_size, out_signed. False for
 * floating point, digits that do not belong, and values beyond 64 bits.
 */
bool lexer_number(const struct token *token, uint8_t long_size, uint64_t *out_value,
                  uint8_t *out_size, bool *out_signed);

#endif
