"""Types, methods and names made while the program runs."""

import collections

from matrix import observe, row

LARGE_RING = {"TRACERD_CLR_BUFFER": "64M/4M"}  # a row about names, not about what a full ring does


def thrown_types(cell):
    return collections.Counter(args["type"] for args in cell.args("exception_thrown"))


def test_conformance_10000_types():
    """As many exception types, each thrown once: each is there by its name."""
    types = 10000

    def check(runtime, mode):
        cell = observe(runtime, mode, "types-10000", types, options=("--clr", "exception"), environment=LARGE_RING)
        told = thrown_types(cell)
        assert told == cell.facts["thrown"], f"{len(told)} types of {len(cell.facts['thrown'])}"
        assert len(told) == types
        return f"{len(told)} types, each once"

    row(check)


def test_conformance_unicode_names():
    """Types, threads and methods with names from all over Unicode, controls, quotes: the same text arrives."""
    def check(runtime, mode):
        cell = observe(runtime, mode, "unicode-names")
        names = cell.facts["names"]
        assert thrown_types(cell) == cell.facts["thrown"], (thrown_types(cell), cell.facts["thrown"])
        threads = [args["name"] for args in cell.args("thread_name")]
        assert [name for name in threads if name in names] == names, threads
        methods = " ".join(args["name"] for args in cell.args("method"))
        missing = [name for name in names if name not in methods]
        assert not missing, f"methods without their name: {missing}"
        return f"{len(names)} names of types, threads and methods"

    row(check)


def test_conformance_dynamic_methods():
    """Dynamic methods: each compiled once, by its name, begun and ended."""
    count = 50

    def check(runtime, mode):
        cell = observe(runtime, mode, "dynamic-methods", count)
        names = {args["method"]["id"]: args["name"] for args in cell.args("method")}
        for kind in ("jit_start", "jit_end"):
            compiled = [names.get(args["method"]["id"], "") for args in cell.args(kind)]
            told = [name for method in cell.facts["methods"] for name in compiled if name.endswith(method)]
            missing = [method for method in cell.facts["methods"] if not any(name.endswith(method) for name in compiled)]
            assert not missing, f"{kind}: {missing}"
        assert all(args["status"] == 0 and args["size"] > 0 for args in cell.args("jit_end")), cell.args("jit_end")
        return f"{count} dynamic methods among {len(cell.events('jit_end'))} compiled"

    row(check)
