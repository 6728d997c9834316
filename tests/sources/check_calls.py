"""Every call of the runtime's own interfaces stands in the layer that checks the answers: profiler/info*.c."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
LAYER = re.compile(r"info\w*\.c")
CALL = re.compile(r"(?:->|\.)\s*vtbl\s*(?:->|\.)\s*(\w+)")
# What a module has in common with other objects and answers nothing that could be wrong.
ANYWHERE = {"AddRef", "Release"}
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.S)


def calls_of(text):
    """(line, method) of each call through a vtable."""
    code = COMMENT.sub(lambda comment: "\n" * comment[0].count("\n"), text)
    for call in CALL.finditer(code):
        yield code.count("\n", 0, call.start()) + 1, call[1]


def problems_of(name, text, own):
    """`own` are methods that this profiler implements itself: its callbacks and its class factory."""
    if LAYER.fullmatch(name):
        return
    for line, method in calls_of(text):
        if method not in ANYWHERE and method not in own:
            yield f"profiler/{name}:{line}: {method} is called outside profiler/info*.c"


def own_methods():
    text = (ROOT / "profiler" / "callback_slots.def").read_text(encoding="utf-8")
    return set(re.findall(r"CORPROF_SLOT\(\d+, (\w+)", text)) | {"QueryInterface", "CreateInstance", "LockServer"}


def self_test():
    """The check can fail."""
    own = {"Shutdown"}
    found = ["hr = p.info->vtbl->SetEventMask2(p.info, 0, 0);", "import\n    ->vtbl\n    ->GetMethodProps(import);",
             "x = info->vtbl->GetThreadInfo;"]
    clean = ["/* info->vtbl->GetThreadInfo */", "(void)import->vtbl->Release(import);", "o->vtbl->Shutdown(o);",
             "// info->vtbl->GetThreadInfo"]
    for text in found:
        assert len(list(problems_of("names.c", text, own))) == 1, text
        assert not list(problems_of("info_code.c", text, own)), text
    for text in clean:
        assert not list(problems_of("names.c", text, own)), text


def main():
    self_test()
    own = own_methods()
    files = sorted((ROOT / "profiler").glob("*.[ch]"))
    found = [problem for path in files for problem in problems_of(path.name, path.read_text(encoding="utf-8"), own)]
    print("\n".join(found) if found else f"{len(files)} files, every call is in the layer")
    return bool(found) or not files


if __name__ == "__main__":
    sys.exit(main())
