#!/bin/sh
# Compiles the managed programs and lays out the runtimes they are run on, below the folder given:
#   OUT/apps/NAME/app.dll    one binary per program, for all runtimes
#   OUT/VERSION/dotnet       3.1, 8, 9: a host that sees this runtime and no other; 10: the installed one
#   OUT/arm64-VERSION          libcoreclr.so and its assemblies for that machine, 9 and 10
#   OUT/self-contained-VERSION/app    the story published with its runtime, 8 and 9
# With a second argument only that set is made: `sample`, the story for the installed SDK's own runtime, needs nothing
# beyond the SDK.
# The packages come from NuGet the first time; afterwards they lie in its cache and no network is asked.
set -eu

[ $# -eq 1 ] || [ "${2-}" = sample ] || { echo "usage: prepare.sh OUT [sample]" >&2; exit 2; }
mkdir -p "$1"
out=$(cd "$1" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
packages=${NUGET_PACKAGES:-$HOME/.nuget/packages}

command -v dotnet >/dev/null || { echo "prepare.sh: no dotnet on PATH: install the .NET SDK 10" >&2; exit 1; }
sdk_host=$(dirname "$(readlink -f "$(command -v dotnet)")")

# 3.1's pack says nothing about its own files; the host wants it said.
write_deps_file() {
    folder=$1
    {
        printf '{"runtimeTarget":{"name":".NETCoreApp,Version=v3.1/linux-x64"},"compilationOptions":{},'
        printf '"targets":{".NETCoreApp,Version=v3.1":{},".NETCoreApp,Version=v3.1/linux-x64":{'
        printf '"runtimepack.Microsoft.NETCore.App.Runtime.linux-x64/3.1.3":{"runtime":{'
        (cd "$folder" && ls -- *.dll) | sed 's/.*/"&":{}/' | paste -sd, -
        printf '},"native":{'
        (cd "$folder" && ls -- *.so) | sed 's/.*/"&":{}/' | paste -sd, -
        printf '}}}},"libraries":{"runtimepack.Microsoft.NETCore.App.Runtime.linux-x64/3.1.3":'
        printf '{"type":"runtimepack","serviceable":false,"sha512":""}}}\n'
    } >"$folder/Microsoft.NETCore.App.deps.json"
}

# The muxer looks for its host beside its own real path, so it is copied; the rest are links.
lay_out() {
    name=$1 version=$2
    pack=$packages/microsoft.netcore.app.runtime.linux-x64/$version/runtimes/linux-x64
    shared=$out/$name/shared/Microsoft.NETCore.App/$version
    [ -f "$shared/complete" ] && return 0
    rm -rf "${out:?}/$name"
    mkdir -p "$shared" "$out/$name/host"
    cp "$sdk_host/dotnet" "$out/$name/dotnet"
    ln -s "$sdk_host/host/fxr" "$out/$name/host/fxr"
    ln -s "$pack"/lib/*/* "$pack"/native/* "$shared/"
    [ -e "$shared/Microsoft.NETCore.App.deps.json" ] || write_deps_file "$shared"
    : >"$shared/complete"
}

export TRACERD_MANAGED_OUT="$out" DOTNET_NOLOGO=1 DOTNET_CLI_TELEMETRY_OPTOUT=1
if [ "${2-}" = sample ]; then
    sdk=$(dotnet --version)
    dotnet build "$here/story/story.csproj" -nologo -v:q -nodeReuse:false -p:SampleFramework="net${sdk%%.*}.0" -c Release
    exit 0
fi
dotnet msbuild "$here/managed.proj" -nologo -v:q -nodeReuse:false -t:Restore
dotnet msbuild "$here/managed.proj" -nologo -v:q -nodeReuse:false -m:2 -t:Build
for version in 8.0.34 9.0.23; do
    dotnet publish "$here/story/story.csproj" -nologo -v:q -nodeReuse:false -p:ContainedRuntime=$version \
        -o "$out/self-contained-${version%%.*}"
done
lay_out 3.1 3.1.3
lay_out 8 8.0.34
lay_out 9 9.0.23
# Of arm64 the files of the runtime alone, for a host of our own.
for version in 9.0.23 10.0.12; do
    pack=$packages/microsoft.netcore.app.runtime.linux-arm64/$version/runtimes/linux-arm64
    mkdir -p "$out/arm64-${version%%.*}"
    ln -sf "$pack"/lib/*/*.dll "$pack"/native/* "$out/arm64-${version%%.*}/"
done
mkdir -p "$out/10"
ln -sfn "$sdk_host/dotnet" "$out/10/dotnet"
