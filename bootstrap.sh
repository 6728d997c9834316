#!/bin/sh
# Everything from a fresh Debian 12 machine to a result, in one command:
#   sh bootstrap.sh demo    installs, builds, traces a sample application and prints the summary
#   sh bootstrap.sh test    installs, builds, runs every test
# A second run installs nothing and needs no network.
set -eu

build_packages="gcc libc6-dev cmake ninja-build pkg-config libuv1-dev libtraceevent-dev libjansson-dev
    libcmocka-dev libzstd-dev zlib1g-dev libsystemd-dev"
test_packages="binutils-aarch64-linux-gnu clang-14 clang-format-14 g++ gcc-aarch64-linux-gnu jq libc6-dev-arm64-cross libc6-dbg libclang-rt-14-dev
    libjson-c-dev libkshark-dev liblttng-ust-dev libstdc++6-arm64-cross lttng-tools musl-tools protobuf-compiler python3 qemu-user shellcheck stress-ng systemd
    trace-cmd valgrind xz-utils zstd"

say() { printf '== %s\n' "$*" >&2; }
die() { printf 'bootstrap.sh: %s\n' "$*" >&2; exit 1; }

as_root() {
    if [ "$(id -u)" -eq 0 ]; then
        "$@"
    elif command -v sudo >/dev/null; then
        sudo "$@"
    else
        die "installing packages needs root: run this as root once, or install$missing yourself"
    fi
}

install_missing() {
    missing=""
    for package in "$@"; do
        [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" = installed ] ||
            missing="$missing $package"
    done
    [ -n "$missing" ] || return 0
    command -v apt-get >/dev/null || die "not a Debian system; needed here:$missing"
    say "installing$missing"
    as_root apt-get update -q
    # shellcheck disable=SC2086 # a list of names
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends $missing
}

# build [CMAKE OPTIONS…] -- TARGETS…
build() {
    options=""
    while [ "$1" != -- ]; do
        options="$options $1"
        shift
    done
    shift
    # shellcheck disable=SC2086 # a list of options
    cmake -S . -B build -G Ninja $options >build/configure.log 2>&1 || { cat build/configure.log >&2; exit 1; }
    cmake --build build --target "$@"
}

mount_tracefs() {
    [ -e /sys/kernel/tracing/trace_marker ] && return 0
    [ "$(id -u)" -eq 0 ] && mount -t tracefs nodev /sys/kernel/tracing 2>/dev/null
}

# What this machine lacks for tracing live, one reason a line.
missing_for_live() {
    if [ "$(id -u)" -ne 0 ]; then
        # Who is not root cannot even see whether there is a tracefs.
        echo "root: the kernel's trace buffers are for root only"
    elif ! mount_tracefs; then
        echo "tracefs: this kernel has none at /sys/kernel/tracing, or it may not be mounted here"
    fi
    command -v dotnet >/dev/null || echo "dotnet: no .NET SDK on PATH to compile and run the sample with"
}

replay() {
    say "replaying tests/data/demo.ndjson, a recording of the same sample made with tracerd run"
    build/bin/tracerd replay --summary -o build/demo.ndjson tests/data/demo.ndjson
}

demo() {
    # shellcheck disable=SC2086
    install_missing $build_packages
    build -- tracerd tracerd_profiler
    missing=$(missing_for_live)
    if [ -z "$missing" ] && ! sh tests/managed/prepare.sh build/managed-demo sample >build/sample.log 2>&1; then
        missing="a sample: the SDK could not compile it, see build/sample.log"
    fi
    if [ -n "$missing" ]; then
        echo "$missing" | while read -r reason; do say "not live, missing $reason"; done
        replay
    else
        say "tracing: dotnet build/managed-demo/apps/story/app.dll"
        build/bin/tracerd run --summary -o build/demo.ndjson -- dotnet build/managed-demo/apps/story/app.dll
    fi
    say "the timeline is in build/demo.ndjson, one JSON object a line"
}

run_tests() {
    # shellcheck disable=SC2086
    install_missing $build_packages $test_packages
    command -v npm >/dev/null || install_missing nodejs npm
    build -DTRACERD_WERROR=ON -- all duckdb
    mount_tracefs || say "no tracefs: the tests that need it are skipped"
    # Tests that use the machine as a whole (tracefs, timing of .NET processes) lock it themselves.
    ctest --test-dir build --output-on-failure --parallel 2
}

cd "$(dirname "$0")"
mkdir -p build
case ${1-} in
demo) demo ;;
test) run_tests ;;
*) die "say what to do: sh bootstrap.sh demo, or sh bootstrap.sh test" ;;
esac
