/*
 * The stubs of the hooks against their machine's convention: the id arrives, the stack is aligned,
 * and everything that may hold an argument or a result of the method is as it was. Ends with 0, or
 * with 60 * stub + the number of what is wrong. Needs no libc, so that it can be built for a
 * machine that there is no libc for, and run by an emulator.
 */
#include <stdint.h>

struct registers {
    uint64_t general[16]; /* as stub_registers.S orders them */
    uint64_t vector[8][2];
};

void stub_call(void (*stub)(void), const struct registers *before, struct registers *after);
void elt_stub_enter(void);
void elt_stub_leave(void);
void elt_stub_tailcall(void);

uint64_t stub_seen_id;
uint64_t stub_seen_stack;

struct convention {
    void (*stub)(void);
    int id;                /* where the id comes in */
    uint32_t general_kept; /* bits */
    uint32_t vectors_kept;
};

#if defined(__x86_64__)
enum {
    RAX,
    RCX,
    RDX,
    RSI,
    RDI,
    R8,
    R9,
    R14,
    R15
};
#define RESULT (1u << RAX | 1u << RDX)
static const struct convention conventions[] = {
    { elt_stub_enter, R14, 0x1ff, 0xff },
    { elt_stub_leave, RDI, RESULT | 1u << R14 | 1u << R15, 0x03 },
    { elt_stub_tailcall, RDI, RESULT | 1u << R14 | 1u << R15, 0x03 },
};
#else
#define X10 9
static const struct convention conventions[] = {
    { elt_stub_enter, X10, 0x1ff, 0xff },
    { elt_stub_leave, X10, 0x1ff, 0xff },
    { elt_stub_tailcall, X10, 0x1ff, 0xff },
};
#endif

#define WRONG_ID 50
#define WRONG_STACK 51

static int check(const struct convention *convention)
{
    struct registers before, after;

    for (int i = 0; i < 16; i++)
        before.general[i] = after.general[i] = 0x0101010101010101u * (uint64_t)(i + 1);
    for (int i = 0; i < 16; i++)
        before.vector[i / 2][i % 2] = 0x1000000000000001u * (uint64_t)(i + 3);
    stub_seen_id = 0;
    stub_call(convention->stub, &before, &after);
    if (stub_seen_id != before.general[convention->id])
        return WRONG_ID;
    if (stub_seen_stack % 16 != 0)
        return WRONG_STACK;
    for (int i = 0; i < 16; i++)
        if (convention->general_kept >> i & 1 && after.general[i] != before.general[i])
            return 1 + i;
    for (int i = 0; i < 16; i++)
        if (convention->vectors_kept >> i / 2 & 1 &&
            after.vector[i / 2][i % 2] != before.vector[i / 2][i % 2])
            return 20 + i;
    return 0;
}

int main(void)
{
    for (int i = 0; i < 3; i++) {
        int wrong = check(&conventions[i]);

        if (wrong)
            return 60 * i + wrong;
    }
    return 0;
}
