#!/bin/sh
# load_on_musl.sh LIBRARY: the library built against glibc runs in a process of musl.
set -eu
here=$(dirname "$0")

if ! command -v musl-gcc >/dev/null; then
    echo 'SKIP: musl-gcc (package musl-tools)'
    [ "${CI:-}" = true ] && exit 1
    exit 77
fi
program=$(mktemp)
trap 'rm -f "$program"' EXIT
musl-gcc -std=gnu11 -I"$here/../../proto" -I"$here/../../profiler" -o "$program" "$here/load.c" "$here/fake_info.c" \
    "$here/fake_stubs.c"
"$program" "$1"
