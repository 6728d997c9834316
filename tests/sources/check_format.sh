#!/bin/sh
# Every C file has the format of .clang-format (version 14).
set -eu
. "$(dirname "$0")/missing.sh"
cd "$(dirname "$0")/../.."

need_program clang-format-14
find common daemon profiler proto tests -name '*.[ch]' -print0 | xargs -0 clang-format-14 --dry-run -Werror
