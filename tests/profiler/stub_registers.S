/*
 * void stub_call(void (*stub)(void), const struct registers *before, struct registers *after)
 *
 * Loads the registers, calls the stub as hooked code does, and stores them again. The targets that
 * the stubs call spoil whatever C lets them spoil, and note their argument and the stack's place.
 */
#if defined(__x86_64__)

    .macro target name
    .globl  \name
\name:
    movq    %rdi, stub_seen_id(%rip)
    leaq    8(%rsp), %rax
    movq    %rax, stub_seen_stack(%rip)
    .irp register, rax, rcx, rdx, rsi, rdi, r8, r9, r10, r11
    movq    $-1, %\register
    .endr
    .irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
    pcmpeqd %xmm\n, %xmm\n
    .endr
    ret
    .endm

    .text
    .globl  stub_call
stub_call:
    .irp register, rbx, rbp, r12, r13, r14, r15, rdx
    pushq   %\register
    .endr
    movq    %rdi, %r11
    movq    %rsi, %r10
    .irp n, 0, 1, 2, 3, 4, 5, 6, 7
    movups  128 + \n * 16(%r10), %xmm\n
    .endr
    movq    0(%r10), %rax
    movq    8(%r10), %rcx
    movq    16(%r10), %rdx
    movq    24(%r10), %rsi
    movq    32(%r10), %rdi
    movq    40(%r10), %r8
    movq    48(%r10), %r9
    movq    56(%r10), %r14
    movq    64(%r10), %r15
    call    *%r11
    popq    %r10
    .irp n, 0, 1, 2, 3, 4, 5, 6, 7
    movups  %xmm\n, 128 + \n * 16(%r10)
    .endr
    movq    %rax, 0(%r10)
    movq    %rcx, 8(%r10)
    movq    %rdx, 16(%r10)
    movq    %rsi, 24(%r10)
    movq    %rdi, 32(%r10)
    movq    %r8, 40(%r10)
    movq    %r9, 48(%r10)
    movq    %r14, 56(%r10)
    movq    %r15, 64(%r10)
    .irp register, r15, r14, r13, r12, rbp, rbx
    popq    %\register
    .endr
    ret

#elif defined(__aarch64__)

    .macro target name
    .globl  \name
\name:
    adrp    x9, stub_seen_id
    str     x0, [x9, :lo12:stub_seen_id]
    adrp    x9, stub_seen_stack
    mov     x1, sp
    str     x1, [x9, :lo12:stub_seen_stack]
    .irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17
    mov     x\n, #-1
    .endr
    .irp n, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23
    movi    d\n, #0xffffffffffffffff
    .endr
    ret
    .endm

    .text
    .globl  stub_call
stub_call:
    stp     x29, x30, [sp, #-32]!
    str     x2, [sp, #16]
    mov     x16, x0
    mov     x17, x1
    .irp n, 0, 1, 2, 3, 4, 5, 6, 7
    ldr     q\n, [x17, #(128 + \n * 16)]
    .endr
    .irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8
    ldr     x\n, [x17, #(\n * 8)]
    .endr
    ldr     x10, [x17, #72]
    ldr     x11, [x17, #80]
    blr     x16
    ldr     x17, [sp, #16]
    .irp n, 0, 1, 2, 3, 4, 5, 6, 7
    str     q\n, [x17, #(128 + \n * 16)]
    .endr
    .irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8
    str     x\n, [x17, #(\n * 8)]
    .endr
    ldp     x29, x30, [sp], #32
    ret

    /* There is no libc: this is all of it. */
    .globl  _start
_start:
    bl      main
    mov     x8, #93 /* exit */
    svc     #0

#endif

    target elt_on_enter
    target elt_on_leave
    target elt_on_tailcall
    .section .note.GNU-stack, "", %progbits
