#!/bin/sh
# The arm64 stubs, assembled by clang, linked without a libc and run by qemu against their convention.
# usage: stub_registers_arm64.sh SOURCE-ROOT
set -eu
root=$1
skip() { [ "${CI:-}" = true ] && { echo "FAIL: missing $1" >&2; exit 1; }; echo "SKIP: $1"; exit 77; }
for program in clang-14 aarch64-linux-gnu-ld qemu-aarch64; do
    command -v $program >/dev/null || skip "the program $program"
done
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
compile() { clang-14 --target=aarch64-linux-gnu -O1 -ffreestanding -c "$1" -o "$place/$2"; }
compile "$root/profiler/elt_arm64.S" stubs.o
compile "$root/tests/profiler/stub_registers.S" harness.o
compile "$root/tests/profiler/stub_registers.c" check.o
aarch64-linux-gnu-ld -static -o "$place/check" "$place/check.o" "$place/harness.o" "$place/stubs.o"
status=0
qemu-aarch64 "$place/check" || status=$?
[ $status -eq 0 ] || { echo "FAIL: stub_registers.c tells $status" >&2; exit 1; }
