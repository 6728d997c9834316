#include "provider.h"

#include <errno.h>
#include <string.h>

static size_t length_until(const char *text, size_t size, char stop)
{
    const char *end = memchr(text, stop, size);

    return end ? (size_t)(end - text) : size;
}

static int digit(char letter)
{
    if (letter >= '0' && letter <= '9')
        return letter - '0';
    if ((letter | 0x20) >= 'a' && (letter | 0x20) <= 'f')
        return (letter | 0x20) - 'a' + 10;
    return -1;
}

/* The whole text, at most 64 bits. */
static int parse_hex(const char *text, size_t size, uint64_t *out)
{
    uint64_t value = 0;

    if (size > 2 && text[0] == '0' && (text[1] | 0x20) == 'x') {
        text += 2;
        size -= 2;
    }
    for (size_t i = 0; i < size; i++) {
        int next = digit(text[i]);

        if (next < 0 || value >> 60)
            return -EINVAL;
        value = value << 4 | (unsigned)next;
    }
    *out = value;
    return 0;
}

/* What stands behind the name; nothing, or a colon first. */
static int parse_rest(const char *text, size_t size, struct trd_provider *out)
{
    size_t keywords;

    if (size == 0)
        return 0;
    text++;
    size--;
    keywords = length_until(text, size, ':');
    if (keywords > 0 && parse_hex(text, keywords, &out->keywords) != 0)
        return -EINVAL;
    if (keywords == size)
        return 0;
    if (size != keywords + 2 || text[keywords + 1] < '0' ||
        text[keywords + 1] > '0' + TRD_PROVIDER_LEVEL_MAX)
        return -EINVAL;
    out->level = (uint32_t)(text[keywords + 1] - '0');
    return 0;
}

int trd_provider_next(const char **list, size_t *size, struct trd_provider *out)
{
    size_t length = length_until(*list, *size, ',');
    struct trd_provider provider = { .name = *list,
                                     .name_size = length_until(*list, length, ':'),
                                     .keywords = TRD_PROVIDER_KEYWORDS_ALL,
                                     .level = TRD_PROVIDER_LEVEL_MAX };

    if (*size == 0)
        return 0;
    if (provider.name_size == 0 || provider.name_size > TRD_PROVIDER_NAME_MAX ||
        memchr(provider.name, '\0', provider.name_size) ||
        parse_rest(*list + provider.name_size, length - provider.name_size, &provider) != 0)
        return -EINVAL;
    *out = provider;
    length += length < *size; /* the comma */
    *list += length;
    *size -= length;
    return 1;
}
