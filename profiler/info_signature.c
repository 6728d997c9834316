#include "info_signature.h"

#include "info_answer.h"

#define FIELD_SIGNATURE 0x06

bool metadata_signature(struct metadata_import *import, mdToken method, mdTypeDef *out_type,
                        struct signature *out)
{
    const uint8_t *bytes = NULL;
    ULONG size = 0;
    mdTypeDef type = 0;

    if (!SUCCEEDED(import->vtbl->GetMethodProps(import, method, &type, NULL, 0, NULL, NULL, &bytes,
                                                &size, NULL, NULL)) ||
        !bytes || size > INFO_SIGNATURE_MAX || !signature_parse(bytes, size, out))
        return false;
    *out_type = type;
    return true;
}

bool metadata_argument(struct metadata_import *import, mdToken method, unsigned index,
                       struct info_name *out)
{
    mdToken parameter = 0;
    ULONG length = 0;

    info_clear_name(out);
    return SUCCEEDED(import->vtbl->GetParamForMethodIndex(import, method, index, &parameter)) &&
           !info_is_nil(parameter) &&
           SUCCEEDED(import->vtbl->GetParamProps(import, parameter, NULL, NULL, out->units,
                                                 INFO_NAME_MAX, &length, NULL, NULL, NULL, NULL)) &&
           info_settle_name(out, length);
}

bool metadata_base(struct metadata_import *import, mdTypeDef type, struct info_name *out,
                   mdToken *out_base)
{
    mdToken base = 0;
    ULONG length = 0;
    DWORD flags = 0;

    info_clear_name(out);
    if (!SUCCEEDED(import->vtbl->GetTypeDefProps(import, type, out->units, INFO_NAME_MAX, &length,
                                                 &flags, &base)) ||
        !info_settle_name(out, length))
        return false;
    *out_base = info_is_nil(base) ? 0 : base;
    return true;
}

bool metadata_reference(struct metadata_import *import, mdToken reference, mdToken *out_scope,
                        struct info_name *out)
{
    mdToken scope = 0;
    ULONG length = 0;

    info_clear_name(out);
    if (!SUCCEEDED(import->vtbl->GetTypeRefProps(import, reference, &scope, out->units,
                                                 INFO_NAME_MAX, &length)) ||
        !info_settle_name(out, length))
        return false;
    *out_scope = scope;
    return true;
}

bool metadata_find_type(struct metadata_import *import, const struct info_name *name,
                        mdTypeDef enclosing, mdTypeDef *out)
{
    mdTypeDef type = 0;

    if (!SUCCEEDED(import->vtbl->FindTypeDefByName(import, name->units, enclosing, &type)) ||
        info_is_nil(type))
        return false;
    *out = type;
    return true;
}

bool metadata_enum_element(struct metadata_import *import, mdTypeDef type, uint8_t *out)
{
    static const WCHAR name[] = { 'v', 'a', 'l', 'u', 'e', '_', '_', 0 };
    const uint8_t *bytes = NULL;
    ULONG size = 0;
    mdToken field = 0;

    if (!SUCCEEDED(import->vtbl->FindField(import, type, name, NULL, 0, &field)) ||
        info_is_nil(field) ||
        !SUCCEEDED(import->vtbl->GetFieldProps(import, field, NULL, NULL, 0, NULL, NULL, &bytes,
                                               &size, NULL, NULL, NULL)) ||
        !bytes || size < 2 || size > INFO_SIGNATURE_MAX || bytes[0] != FIELD_SIGNATURE)
        return false;
    *out = bytes[1];
    return true;
}
