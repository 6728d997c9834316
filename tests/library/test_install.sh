#!/bin/sh
# Installs the library, then builds and runs a program that sees nothing of this repository but the
# install tree, as C against the shared library and the archive; the headers as C++ as well.
set -eu
cmake=$1 build=$2 make_trace=$3 cc=$4
here=$(dirname "$0")
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

for tool in pkg-config c++; do
    command -v "$tool" > /dev/null && continue
    echo "SKIP: $tool is not installed"
    [ "${CI:-}" = true ] && exit 1
    exit 77
done

"$cmake" --install "$build" --component library --prefix "$dir/usr" > "$dir/log" || {
    cat "$dir/log"
    exit 1
}
PKG_CONFIG_PATH=$(dirname "$(find "$dir/usr" -name tracerd.pc)")
export PKG_CONFIG_PATH
lib=$(pkg-config --variable=libdir tracerd)
flags="-std=c11 -D_POSIX_C_SOURCE=200809L -Wall -Wextra -Wpedantic -Werror $(pkg-config --cflags tracerd)"
cp "$here/consumer.c" "$dir/"
cd "$dir"

# shellcheck disable=SC2086,SC2046 # the flags are words
"$cc" $flags -o shared consumer.c $(pkg-config --libs tracerd)
# shellcheck disable=SC2086,SC2046
"$cc" $flags -o static consumer.c "$lib/libtracerd.a" \
    $(pkg-config --static --libs tracerd | sed 's/-ltracerd//')
for header in "$dir"/usr/include/tracerd/*.h; do
    echo "#include <tracerd/$(basename "$header")>"
done > all.cc
# shellcheck disable=SC2046
c++ -Wall -Wextra -Werror $(pkg-config --cflags tracerd) -fsyntax-only all.cc

"$make_trace" trace.dat
cat > expected << 'END'
601 events, 5 lost, sum 180300
{"v":1,"k":"ev","seq":600,"ts":"1000000600","src":"ftrace","cpu":1,"tid":42,"name":"test:tick","args":{"number":"600"}}
END
LD_LIBRARY_PATH=$lib ./shared trace.dat > out.shared
./static trace.dat > out.static
diff expected out.shared
diff expected out.static
