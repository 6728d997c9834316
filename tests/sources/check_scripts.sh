#!/bin/sh
# Every shell script passes shellcheck; every Python script compiles.
set -eu
. "$(dirname "$0")/missing.sh"
cd "$(dirname "$0")/../.."

need_program shellcheck
find . -path ./build -prune -o -name '*.sh' -print0 | xargs -0 shellcheck -x -P SCRIPTDIR .ci/run
find tests -name '*.py' -exec /usr/bin/python3 -c '
import sys
for path in sys.argv[1:]:
    compile(open(path, encoding="utf-8").read(), path, "exec")' {} +
