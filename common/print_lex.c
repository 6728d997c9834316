#include "print_lex.h"

#include <string.h>

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_name_start(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_name(char c)
{
    return is_name_start(c) || is_digit(c);
}

void lexer_init(struct lexer *lexer, const char *text, size_t size)
{
    *lexer = (struct lexer){ .at = text, .end = text + size };
    lexer_next(lexer);
}

/* A literal up to its closing quote; NULL if that is missing. */
static const char *quoted_end(const char *at, const char *end)
{
    char quote = *at++;

    while (at < end && *at != quote)
        at += *at == '\\' && at + 1 < end ? 2 : 1;
    return at < end ? at + 1 : NULL;
}

static const char *name_end(const char *at, const char *end)
{
    while (at < end && is_name(*at))
        at++;
    return at;
}

/* The longest operator that stands here. */
static uint32_t punctuation_at(const char *at, const char *end)
{
    static const char pairs[][3] = { "->", "<<", ">>", "<=", ">=", "==", "!=",
                                     "&&", "||", "+=", "-=", "++", "--" };

    if (end - at >= 3 && memcmp(at, "...", 3) == 0)
        return PUNCT3('.', '.', '.');
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
        if (end - at >= 2 && memcmp(at, pairs[i], 2) == 0)
            return PUNCT2(pairs[i][0], pairs[i][1]);
    if (*at && strchr("()[]{}.,;:?+-*/%&|^~!<>=", *at))
        return (uint8_t)*at;
    return 0;
}

static const char *punctuation(struct token *token, const char *at, const char *end)
{
    token->punctuation = punctuation_at(at, end);
    token->kind = token->punctuation ? TOKEN_PUNCTUATION : TOKEN_BAD;
    return at + 1 + (token->punctuation > 0xff) + (token->punctuation > 0xffff);
}

void lexer_next(struct lexer *lexer)
{
    const char *at = lexer->at, *end = lexer->end, *stop;
    struct token *token = &lexer->token;

    while (at < end && (*at == ' ' || *at == '\t' || *at == '\n' || *at == '\r'))
        at++;
    *token = (struct token){ .kind = TOKEN_END, .text = at };
    if (at == end) {
        lexer->at = at;
        return;
    }
    if (*at == '"' || *at == '\'') {
        token->kind = *at == '"' ? TOKEN_STRING : TOKEN_CHAR;
        stop = quoted_end(at, end);
        if (!stop) {
            token->kind = TOKEN_BAD;
            stop = end;
        }
    } else if (is_name(*at)) {
        token->kind = is_digit(*at) ? TOKEN_NUMBER : TOKEN_NAME;
        stop = name_end(at, end);
    } else {
        stop = punctuation(token, at, end);
    }
    token->size = (uint32_t)(stop - at);
    lexer->at = stop;
}

struct token lexer_peek(const struct lexer *lexer)
{
    struct lexer copy = *lexer;

    lexer_next(&copy);
    return copy.token;
}

bool token_is(const struct token *token, uint32_t punctuation)
{
    return token->kind == TOKEN_PUNCTUATION && token->punctuation == punctuation;
}

bool token_is_name(const struct token *token, const char *name)
{
    return token->kind == TOKEN_NAME && token->size == strlen(name) &&
           memcmp(token->text, name, token->size) == 0;
}

static int digit_value(char c)
{
    if (is_digit(c))
        return c - '0';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'Z' ? c - 'A' + 10 : 99;
}

static uint8_t unescape_number(const char **at, const char *end, int base, int digits_max)
{
    unsigned value = 0;

    while (digits_max-- > 0 && *at < end && digit_value(**at) < base)
        value = value * (unsigned)base + (unsigned)digit_value(*(*at)++);
    return (uint8_t)value;
}

uint8_t lexer_unescape(const char **at, const char *end)
{
    static const char letters[] = "abfnrtv", values[] = "\a\b\f\n\r\t\v";
    const char *letter;
    char c = *(*at)++;

    if (c != '\\' || *at == end)
        return (uint8_t)c;
    if (digit_value(**at) < 8)
        return unescape_number(at, end, 8, 3);
    c = *(*at)++;
    if (c == 'x')
        return unescape_number(at, end, 16, 2);
    letter = c ? strchr(letters, c) : NULL;
    return (uint8_t)(letter ? values[letter - letters] : c);
}

/* u, l and ll in any order and case; false for anything else. */
static bool number_suffix(const char *at, const char *end, bool *out_unsigned, int *out_longs)
{
    *out_unsigned = false;
    *out_longs = 0;
    for (; at < end; at++) {
        if ((*at == 'u' || *at == 'U') && !*out_unsigned)
            *out_unsigned = true;
        else if ((*at == 'l' || *at == 'L') && *out_longs < 2)
            ++*out_longs;
        else
            return false;
    }
    return true;
}

static bool fits(uint64_t value, uint8_t size, bool is_signed)
{
    unsigned bits = size * 8u - is_signed;

    return bits == 64 || value >> bits == 0;
}

bool lexer_number(const struct token *token, uint8_t long_size, uint64_t *out_value,
                  uint8_t *out_size, bool *out_signed)
{
    const char *at = token->text, *end = at + token->size;
    bool hex = token->size > 2 && at[0] == '0' && (at[1] == 'x' || at[1] == 'X');
    int base = hex ? 16 : *at == '0' ? 8 : 10;
    uint64_t value = 0;
    bool is_unsigned;
    int longs;
    uint8_t size;

    for (at += hex ? 2 : 0; at < end && digit_value(*at) < base; at++)
        if (__builtin_mul_overflow(value, (uint64_t)base, &value) ||
            __builtin_add_overflow(value, (uint64_t)digit_value(*at), &value))
            return false;
    if (!number_suffix(at, end, &is_unsigned, &longs))
        return false;
    /* int, long, long long: the first that holds it; unsigned ones only for u and 0x, 0. */
    size = longs == 2 ? 8 : longs == 1 ? long_size : 4;
    while (size < 8 && !fits(value, size, !is_unsigned) &&
           !(base != 10 && fits(value, size, false)))
        size = 8;
    *out_value = value;
    *out_size = size;
    *out_signed = !is_unsigned && fits(value, size, true);
    return true;
}
