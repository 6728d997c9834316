#include "hresult.h"

#include <stddef.h>

static const struct {
    uint32_t value;
    const char *text;
} rows[] = {
    { 0x8013136a, "another profiler is active in the process" },
    { 0x8007007e,
      "the process cannot load the profiler library: the file is not visible to it, or a "
      "library it needs is missing there" },
    { 0x8007007f, "the library has no DllGetClassObject: it is not a profiler" },
    { 0x80131368, "the library does not support attaching" },
    { 0x8013135b,
      "the runtime has not started yet: is it suspended at a diagnostic port? resume it first" },
    { 0x80131379, "a background collection did not end in time: try again" },
    { 0x80131375,
      "the profiler refused to start there: it may run in that process already, or memory "
      "is short" },
    { 0x80131384, "the runtime did not understand the request" },
    { 0x80131385, "this runtime does not know the command: .NET Core 3.0 or later is needed" },
    { 0x80131515, "profiling is not supported there: is DOTNET_EnableDiagnostics_Profiler=0 set?" },
    { 0x80070057, "the runtime found an argument invalid" },
    { 0x80131371, "the runtime is not initialised" },
    { 0x80004005, "the runtime failed without saying why" },
    { 0x8007000e, "the process is out of memory" },
};

const char *hresult_text(int32_t hresult)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (rows[i].value == (uint32_t)hresult)
            return rows[i].text;
    return "the runtime answered with an error that tracerd does not know";
}
