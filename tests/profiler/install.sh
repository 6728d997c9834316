#!/bin/sh
# install.sh LIBRARY BUILD: the library is installed under the name of its content, and a newer one beside it: what a
# traced process has mapped is never written to.
set -eu
library=$1
build=$2
here=$(cd "$(dirname "$0")" && pwd)
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT

fail() {
    echo "$1" >&2
    ls -lai "$place/lib" >&2
    exit 1
}

install_one() {
    cmake -DLIBRARY="$1" -DDIRECTORY="$place/lib" -P "$here/../../profiler/install_library.cmake" >&2
}

identity() {
    stat -c '%i %s %Y' "$1"
}

install_one "$library"
first=$(readlink -f "$place/lib/libtracerd_profiler.so")
[ "$(readlink "$place/lib/libtracerd_profiler.so")" = "$(basename "$first")" ] || fail 'the link is not a plain name'
hash=$(sha256sum "$first" | cut -c1-16)
[ "$(basename "$first")" = "libtracerd_profiler-$hash.so" ] || fail "the name is not that of the content: $first"
cmp -s "$library" "$first" || fail 'another content'
before=$(identity "$first")

# The same again: nothing is touched.
install_one "$library"
[ "$(identity "$first")" = "$before" ] || fail 'the same library was written again'

# Another one, while the first is mapped.
{ cat "$library"; echo newer; } >"$place/newer.so"
install_one "$place/newer.so"
second=$(readlink -f "$place/lib/libtracerd_profiler.so")
[ "$second" != "$first" ] || fail 'the link still leads to the first'
cmp -s "$place/newer.so" "$second" || fail 'the second has another content'
[ "$(identity "$first")" = "$before" ] || fail 'the first was written to'
cmp -s "$library" "$first" || fail 'the first has another content now'
[ "$(find "$place/lib" -mindepth 1 | wc -l)" = 3 ] || fail 'something else was left behind'

# As `cmake --install` does it.
DESTDIR="$place/root" cmake --install "$build" --prefix /opt/tracerd >/dev/null
installed=$(find "$place/root/opt/tracerd" -name libtracerd_profiler.so)
[ -L "$installed" ] || fail "cmake --install put no link: $installed"
[ "$(basename "$(readlink -f "$installed")")" = "libtracerd_profiler-$hash.so" ] || fail "cmake --install: $installed"
