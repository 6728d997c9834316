# shellcheck shell=sh
# What a machine lacks is skipped with the reason printed; in CI it is a failure.

skip() {
    if [ "${CI-}" = true ]; then
        echo "FAIL: missing $1" >&2
        exit 1
    fi
    echo "SKIP: $1"
    exit 77
}

need_program() {
    command -v "$1" >/dev/null || skip "the program $1"
}
