/*
 * A method's signature as metadata has it (ECMA-335, II.23.2.1): what it takes and returns. Pure:
 * bytes of any module in, a bounded list out; what is more than that, or no signature, is refused.
 */
#ifndef TRD_PROFILER_SIGNATURE_H
#define TRD_PROFILER_SIGNATURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SIGNATURE_PARAMETERS_MAX 48

/* CorElementType, corhdr.h; those that can be of a parameter. */
enum signature_element {
    ELEMENT_VOID = 0x01,
    ELEMENT_BOOLEAN,
    ELEMENT_CHAR,
    ELEMENT_I1,
    ELEMENT_U1,
    ELEMENT_I2,
    ELEMENT_U2,
    ELEMENT_I4,
    ELEMENT_U4,
    ELEMENT_I8,
    ELEMENT_U8,
    ELEMENT_R4,
    ELEMENT_R8,
    ELEMENT_STRING,
    ELEMENT_POINTER,
    ELEMENT_REFERENCE, /* ref, in, out */
    ELEMENT_VALUE_TYPE,
    ELEMENT_CLASS,
    ELEMENT_TYPE_PARAMETER,
    ELEMENT_ARRAY,
    ELEMENT_GENERIC, /* an instance; given as the class or value type that it is */
    ELEMENT_TYPED_REFERENCE,
    ELEMENT_NATIVE_INT = 0x18,
    ELEMENT_NATIVE_UINT,
    ELEMENT_FUNCTION_POINTER = 0x1b,
    ELEMENT_OBJECT,
    ELEMENT_VECTOR, /* T[] */
    ELEMENT_METHOD_PARAMETER,
    ELEMENT_REQUIRED_MODIFIER,
    ELEMENT_OPTIONAL_MODIFIER,
    ELEMENT_SENTINEL = 0x41,
    ELEMENT_PINNED = 0x45,
};

struct signature_type {
    uint8_t element;
    uint32_t number; /* token of a class or value type; index of a type's or method's parameter */
};

struct signature {
    bool has_this; /* and it is not among the parameters */
    struct signature_type result;
    struct signature_type parameters[SIGNATURE_PARAMETERS_MAX];
    size_t count;
};

/* False: not a method's, too long, nested too deep, or of variable length; *out is of no use then.
 */
bool signature_parse(const uint8_t *bytes, size_t size, struct signature *out);

#endif
