/*
 * What hooked methods call on x86-64 Linux: from their prologue, from their epilogue, before a tail
 * call. These are no ordinary calls: the id comes in its own register and everything that may hold
 * an argument or a result has to survive. Sources: src/coreclr/jit/targetamd64.h
 * (PROFILER_ENTER/LEAVE_ARG, RBM_PROFILER_…_TRASH), and measurement on 3.1, 8, 9, 10.
 *
 *   enter            id in R14, the caller's stack pointer in R15; RDI RSI RDX RCX R8 R9 XMM0-7 and,
 *                    for 3.1, RAX are the method's
 *   leave, tailcall  id in RDI, the caller's stack pointer in RSI; RAX RDX XMM0-1 are the method's
 *
 * RSP is 8 off a multiple of 16, as behind any call.
 */
#if defined(__x86_64__)

#define XMM_SIZE 128 /* 8 of 16 bytes: a frame of nothing else keeps the alignment */

    .macro save_xmm count
    .irp n, 0, 1, 2, 3, 4, 5, 6, 7
    .if \n < \count
    movups  %xmm\n, \n * 16(%rsp)
    .endif
    .endr
    .endm

    .macro restore_xmm count
    .irp n, 0, 1, 2, 3, 4, 5, 6, 7
    .if \n < \count
    movups  \n * 16(%rsp), %xmm\n
    .endif
    .endr
    .endm

    .macro push_register name
    pushq   %\name
    .cfi_adjust_cfa_offset 8
    .endm

    .macro pop_register name
    popq    %\name
    .cfi_adjust_cfa_offset -8
    .endm

    .macro hook name
    .globl  \name
    .hidden \name
    .type   \name, @function
    .p2align 4
\name:
    .cfi_startproc
    .endm

    .macro end_hook name
    ret
    .cfi_endproc
    .size   \name, . - \name
    .endm

    /* Seven registers and the return address: RSP is a multiple of 16 again. */
    .macro enter_hook name, target
    hook \name
    .irp register, rax, rcx, rdx, rsi, rdi, r8, r9
    push_register \register
    .endr
    subq    $XMM_SIZE, %rsp
    .cfi_adjust_cfa_offset XMM_SIZE
    save_xmm 8
    movq    %r14, %rdi
    call    \target
    restore_xmm 8
    addq    $XMM_SIZE, %rsp
    .cfi_adjust_cfa_offset -XMM_SIZE
    .irp register, r9, r8, rdi, rsi, rdx, rcx, rax
    pop_register \register
    .endr
    end_hook \name
    .endm

    /* Two registers, two halves of a result, and 8 bytes for the alignment. */
    .macro leave_hook name, target
    hook \name
    push_register rax
    push_register rdx
    subq    $40, %rsp
    .cfi_adjust_cfa_offset 40
    save_xmm 2
    call    \target
    restore_xmm 2
    addq    $40, %rsp
    .cfi_adjust_cfa_offset -40
    pop_register rdx
    pop_register rax
    end_hook \name
    .endm

    .text
    enter_hook elt_stub_enter, elt_on_enter
    leave_hook elt_stub_leave, elt_on_leave
    leave_hook elt_stub_tailcall, elt_on_tailcall

#endif
    .section .note.GNU-stack, "", @progbits
