#!/bin/sh
# Builds everything once more and runs the units: with clang under the address and undefined-behaviour sanitizers,
# and a minute of each fuzzer; or the parts with threads with gcc under the thread sanitizer.
set -eu
. "$(dirname "$0")/missing.sh"
source=$(cd "$(dirname "$0")/../.." && pwd)
variant=$1 build=$2

case $variant in
address)
    need_program clang-14
    options="-DCMAKE_C_COMPILER=clang-14 -DTRACERD_SANITIZE=address -DTRACERD_FUZZ=ON"
    select="-L unit|fuzz"
    ;;
thread)
    options="-DTRACERD_SANITIZE=thread"
    # profiler_fault runs one thread in each of thousands of children: nothing to be found there, slowly.
    select="-R profiler|proto|merge|pipeline|service|lines -E profiler_fault"
    ;;
*)
    echo "build_again.sh: address or thread, not $variant" >&2
    exit 2
    ;;
esac

mkdir -p "$build"
# shellcheck disable=SC2086 # a list of options
cmake -S "$source" -B "$build" -G Ninja -DTRACERD_WERROR=ON -DTRACERD_AGAIN=ON $options
cmake --build "$build"
# shellcheck disable=SC2086 # an option and its value
ASAN_OPTIONS=detect_leaks=1 TSAN_OPTIONS=halt_on_error=1 \
    ctest --test-dir "$build" $select --output-on-failure --parallel 2 --no-tests=error
