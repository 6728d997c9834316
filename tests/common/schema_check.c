#include "schema_check.h"

#include <regex.h>
#include <stdio.h>
#include <string.h>

struct check {
    const json_t *root;
    char *error;
    size_t error_size;
};

static bool valid(const struct check *check, const json_t *schema, const json_t *value);

static bool fail(const struct check *check, const char *what, const json_t *detail)
{
    char *text = json_dumps(detail, JSON_COMPACT | JSON_ENCODE_ANY);

    (void)snprintf(check->error, check->error_size, "%s: %.200s", what, text ? text : "");
    free(text);
    return false;
}

static bool has_type(const char *name, const json_t *value)
{
    static const struct {
        const char *name;
        json_type type;
    } types[] = { { "object", JSON_OBJECT },   { "array", JSON_ARRAY },
                  { "string", JSON_STRING },   { "null", JSON_NULL },
                  { "integer", JSON_INTEGER }, { "number", JSON_INTEGER },
                  { "number", JSON_REAL },     { "boolean", JSON_TRUE },
                  { "boolean", JSON_FALSE } };

    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
        if (strcmp(types[i].name, name) == 0 && types[i].type == json_typeof(value))
            return true;
    return false;
}

static bool check_type(const struct check *check, const json_t *names, const json_t *value)
{
    size_t i;
    json_t *name;

    if (json_is_string(names) && has_type(json_string_value(names), value))
        return true;
    json_array_foreach(names, i, name) if (has_type(json_string_value(name), value)) return true;
    return fail(check, "wrong type", value);
}

static bool check_pattern(const struct check *check, const json_t *pattern, const json_t *value)
{
    regex_t regex;
    bool matches;

    if (!json_is_string(value))
        return true;
    if (regcomp(&regex, json_string_value(pattern), REG_EXTENDED | REG_NOSUB) != 0)
        return fail(check, "bad pattern", pattern);
    matches = regexec(&regex, json_string_value(value), 0, NULL, 0) == 0;
    regfree(&regex);
    return matches || fail(check, "does not match its pattern", value);
}

static bool check_enum(const struct check *check, const json_t *choices, const json_t *value)
{
    size_t i;
    json_t *choice;

    json_array_foreach(choices, i, choice) if (json_equal(choice, value)) return true;
    return fail(check, "not among the choices", value);
}

static bool check_required(const struct check *check, const json_t *names, const json_t *value)
{
    size_t i;
    json_t *name;

    json_array_foreach(names, i, name)
    {
        if (json_is_object(value) && !json_object_get(value, json_string_value(name)))
            return fail(check, "missing member", name);
    }
    return true;
}

static bool check_members(const struct check *check, const json_t *schema, const json_t *value)
{
    const json_t *properties = json_object_get(schema, "properties");
    const json_t *others = json_object_get(schema, "additionalProperties");
    const char *key;
    json_t *member;

    json_object_foreach((json_t *)value, key, member)
    {
        const json_t *rule = json_object_get(properties, key);

        if (!rule)
            rule = others;
        if (json_is_false(rule)) {
            (void)snprintf(check->error, check->error_size, "unknown member: %s", key);
            return false;
        }
        if (rule && !valid(check, rule, member)) {
            size_t used = strlen(check->error);

            (void)snprintf(check->error + used, check->error_size - used, " in %s", key);
            return false;
        }
    }
    return true;
}

static bool check_items(const struct check *check, const json_t *rule, const json_t *value)
{
    size_t i;
    json_t *item;

    json_array_foreach(value, i, item) if (!valid(check, rule, item)) return false;
    return true;
}

static bool check_reference(const struct check *check, const json_t *reference, const json_t *value)
{
    const char *path = json_string_value(reference);
    const json_t *target = NULL;

    if (strncmp(path, "#/$defs/", 8) == 0)
        target = json_object_get(json_object_get(check->root, "$defs"), path + 8);
    return target ? valid(check, target, value) : fail(check, "no such definition", reference);
}

static bool check_all(const struct check *check, const json_t *rules, const json_t *value)
{
    size_t i;
    json_t *rule;

    json_array_foreach(rules, i, rule) if (!valid(check, rule, value)) return false;
    return true;
}

static bool check_if(const struct check *check, const json_t *schema, const json_t *value)
{
    char ignored[256];
    const struct check quiet = { check->root, ignored, sizeof(ignored) };

    return !valid(&quiet, json_object_get(schema, "if"), value) ||
           valid(check, json_object_get(schema, "then"), value);
}

static bool check_range(const struct check *check, const json_t *schema, const json_t *value)
{
    const json_t *low = json_object_get(schema, "minimum");
    const json_t *high = json_object_get(schema, "maximum");

    if (json_is_number(value) && ((low && json_number_value(value) < json_number_value(low)) ||
                                  (high && json_number_value(value) > json_number_value(high))))
        return fail(check, "out of range", value);
    return true;
}

static bool check_keyword(const struct check *check, const json_t *schema, const char *key,
                          const json_t *rule, const json_t *value)
{
    static const char *const notes[] = {
        "$schema", "$id", "title", "description", "$defs", "then"
    };

    for (size_t i = 0; i < sizeof(notes) / sizeof(notes[0]); i++)
        if (strcmp(key, notes[i]) == 0)
            return true;
    if (strcmp(key, "type") == 0)
        return check_type(check, rule, value);
    if (strcmp(key, "const") == 0)
        return json_equal(rule, value) || fail(check, "not the constant", value);
    if (strcmp(key, "enum") == 0)
        return check_enum(check, rule, value);
    if (strcmp(key, "pattern") == 0)
        return check_pattern(check, rule, value);
    if (strcmp(key, "minimum") == 0 || strcmp(key, "maximum") == 0)
        return check_range(check, schema, value);
    if (strcmp(key, "required") == 0)
        return check_required(check, rule, value);
    if (strcmp(key, "properties") == 0 || strcmp(key, "additionalProperties") == 0)
        return check_members(check, schema, value);
    if (strcmp(key, "items") == 0)
        return check_items(check, rule, value);
    if (strcmp(key, "$ref") == 0)
        return check_reference(check, rule, value);
    if (strcmp(key, "allOf") == 0)
        return check_all(check, rule, value);
    if (strcmp(key, "if") == 0)
        return check_if(check, schema, value);
    (void)snprintf(check->error, check->error_size, "keyword not known here: %s", key);
    return false;
}

static bool valid(const struct check *check, const json_t *schema, const json_t *value)
{
    const char *key;
    json_t *rule;

    if (json_is_boolean(schema))
        return json_is_true(schema) || fail(check, "nothing is allowed here", value);
    json_object_foreach((json_t *)schema, key, rule)
    {
        if (!check_keyword(check, schema, key, rule, value))
            return false;
    }
    return true;
}

bool schema_check(const json_t *schema, const json_t *value, char *error, size_t error_size)
{
    const struct check check = { schema, error, error_size };

    error[0] = '\0';
    return valid(&check, schema, value);
}
