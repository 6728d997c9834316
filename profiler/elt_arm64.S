/*
 * What hooked methods call on arm64 Linux: from their prologue, from their epilogue, before a tail
 * call. These are no ordinary calls: the id comes in its own register and everything that may hold
 * an argument or a result has to survive. Source: src/coreclr/jit/targetarm64.h
 * (PROFILER_ENTER/LEAVE_ARG, RBM_PROFILER_…_TRASH). .NET 5 and later; 3.1 has no hooks here.
 *
 *   all three   id in X10, the caller's stack pointer in X11; X0-X8, Q0-Q7 and FP are the method's;
 *               X9-X17 and Q16-Q31 are free, the rest is kept by C
 *
 * SP is a multiple of 16, LR the way back.
 */
#if defined(__aarch64__)

#define FRAME_SIZE 224 /* FP LR X0-X8 and 8 bytes, Q0-Q7 */

    .macro hook name, target
    .globl  \name
    .hidden \name
    .type   \name, %function
    .p2align 4
\name:
    .cfi_startproc
    stp     x29, x30, [sp, #-FRAME_SIZE]!
    .cfi_def_cfa_offset FRAME_SIZE
    .cfi_offset x29, -FRAME_SIZE
    .cfi_offset x30, -FRAME_SIZE + 8
    mov     x29, sp
    stp     x0, x1, [sp, #16]
    stp     x2, x3, [sp, #32]
    stp     x4, x5, [sp, #48]
    stp     x6, x7, [sp, #64]
    str     x8, [sp, #80]
    stp     q0, q1, [sp, #96]
    stp     q2, q3, [sp, #128]
    stp     q4, q5, [sp, #160]
    stp     q6, q7, [sp, #192]
    mov     x0, x10
    bl      \target
    ldp     q6, q7, [sp, #192]
    ldp     q4, q5, [sp, #160]
    ldp     q2, q3, [sp, #128]
    ldp     q0, q1, [sp, #96]
    ldr     x8, [sp, #80]
    ldp     x6, x7, [sp, #64]
    ldp     x4, x5, [sp, #48]
    ldp     x2, x3, [sp, #32]
    ldp     x0, x1, [sp, #16]
    ldp     x29, x30, [sp], #FRAME_SIZE
    .cfi_restore x29
    .cfi_restore x30
    .cfi_def_cfa_offset 0
    ret
    .cfi_endproc
    .size   \name, . - \name
    .endm

    .text
    hook elt_stub_enter, elt_on_enter
    hook elt_stub_leave, elt_on_leave
    hook elt_stub_tailcall, elt_on_tailcall

#endif
    .section .note.GNU-stack, "", %progbits
