#!/bin/sh
# The functions that the public headers declare, those the map names, and those that the libraries
# export are the same.
set -eu
nm=$1 shared=$2 archive=$3 common=$4
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# Comments out, one declaration a line; a function is a name of ours before a parenthesis.
cat "$common"/include/tracerd/*.h | tr '\n' ' ' | sed 's,/\*[^*]*\*\+\([^/*][^*]*\*\+\)*/,,g' |
    tr ';' '\n' | grep -o '\<trd_[a-z0-9_]*(' | tr -d '(' | sort -u > "$dir/declared"
sed -n 's/^ *\(trd_[a-z0-9_]*\);$/\1/p' "$common/libtracerd.map" | sort > "$dir/mapped"
"$nm" -D --defined-only "$shared" | sed -n 's/.* T \([^@]*\)@.*/\1/p' | sort > "$dir/shared"
"$nm" -g --defined-only "$archive" | sed -n 's/.* [A-TV-Z] //p' | sort > "$dir/archive"

failed=0
for other in mapped shared archive; do
    if ! diff "$dir/declared" "$dir/$other"; then
        echo "above: < declared in a public header, > $other" >&2
        failed=1
    fi
done
[ "$(wc -l < "$dir/declared")" -gt 40 ] || { echo "the headers declare too little" >&2; failed=1; }
exit $failed
