#!/bin/sh
# exports.sh LIBRARY: it exports the two entry points and nothing else, needs libc and nothing else, calls only
# what musl has as well, and of glibc nothing newer than 2.17.
set -eu
library=$1
status=0

complain() {
    echo "$1" >&2
    status=1
}

exported=$(nm -D --defined-only "$library" | awk '{ print $3 }' | sort | tr '\n' ' ')
[ "$exported" = 'DllCanUnloadNow DllGetClassObject ' ] || complain "it exports: $exported"

needed=$(readelf -d "$library" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | tr '\n' ' ')
[ "$needed" = 'libc.so.6 ' ] || complain "it needs: $needed"

# The oldest glibc that .NET Core 3.1 itself supports.
floor=2.17
newest=$(readelf -VW "$library" | grep -o 'GLIBC_[0-9.]*' | sed 's/GLIBC_//' | sort -Vu | tail -n 1)
[ "$(printf '%s\n' "$floor" "$newest" | sort -V | tail -n 1)" = "$floor" ] ||
    complain "it needs glibc $newest: $(nm -D --undefined-only "$library" | grep "@GLIBC_$newest" | tr '\n' ' ')"

readelf -d "$library" | grep -q '(TEXTREL)' && complain 'it has relocations in its code'
readelf -lW "$library" | grep -q 'GNU_STACK.*RWE' && complain 'its stack is executable'

# Weak ones may stay unresolved.
undefined=$(nm -D --undefined-only "$library" | awk '$1 == "U" { sub(/@.*/, "", $2); print $2 }')
musl=
for candidate in /usr/lib/*-linux-musl/libc.so /lib/ld-musl-*.so.1; do
    [ -e "$candidate" ] && musl=$candidate && break
done
if [ -z "$musl" ]; then
    echo 'SKIP: musl (package musl-dev), to look its symbols up'
    [ "${CI:-}" = true ] && exit 1
    [ "$status" = 0 ] && exit 77
    exit "$status"
fi
has=$(nm -D --defined-only "$musl" | awk '{ print $3 }')
for symbol in $undefined; do
    echo "$has" | grep -qx "$symbol" || complain "musl has no $symbol"
done
exit "$status"
