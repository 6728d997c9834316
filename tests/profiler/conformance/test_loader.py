"""Assemblies and modules: what the runtime says it has loaded, and what goes away again."""

import collections

from matrix import ATTACH, observe, row


def identifiers(events, key):
    return [event["args"][key]["id"] for event in events]


def loads_of(cell, name):
    return [event for event in cell.events("assembly_load") if event["args"]["name"] == name]


def check_complete(cell):
    """What was loaded has its name, its outcome, and a module of its own."""
    assemblies, modules = cell.args("assembly_load"), cell.args("module_load")
    assert all(args["status"] == 0 and args["name"] for args in assemblies), assemblies
    assert all(args["status"] == 0 and args["path"] for args in modules), modules
    owners = {args["assembly"]["id"] for args in modules if int(args["assembly"]["id"], 16)}
    without = [args for args in assemblies if args["assembly"]["id"] not in owners]
    assert not without, f"no module of {without}"


def test_conformance_module_balance():
    """Row 10: each assembly of AppDomain.GetAssemblies is loaded once, with one module, and is not unloaded."""
    def check(runtime, mode):
        cell = observe(runtime, mode, "module-balance")
        check_complete(cell)
        counts = collections.Counter(args["name"] for args in cell.args("assembly_load"))
        expected = collections.Counter(cell.facts["assemblies"])
        assert expected <= counts, f"missing {expected - counts}"
        # In an attach what is there is told while what is loaded just then tells of itself.
        twice = [name for name, count in counts.items() if count > expected.get(name, 1)]
        assert not twice or mode == ATTACH, f"told twice: {twice}"
        assert not cell.events("assembly_unload") and not cell.events("module_unload")
        assert len(cell.events("module_load")) >= len(cell.events("assembly_load")) > 0
        return f"{sum(expected.values())} assemblies, {len(cell.events('module_load'))} modules"

    row(check)


def check_unloads(cell, contexts):
    """Each context's copy of the program came and went: the same ids, no others, modules as well as assemblies."""
    check_complete(cell)
    copies = set(identifiers(loads_of(cell, "app"), "assembly"))
    gone = identifiers(cell.events("assembly_unload"), "assembly")
    assert len(gone) == contexts and set(gone) <= copies, (gone, copies)
    modules = [event for event in cell.events("module_load") if event["args"]["path"].endswith("/app.dll")]
    assert len(modules) == contexts + 1, f"{len(modules)} modules of the program"
    left = identifiers(cell.events("module_unload"), "module")
    assert len(left) == contexts and set(left) <= set(identifiers(modules, "module")), left


def test_conformance_alc_unload():
    """Row 12: collectible contexts, each with its copy of the program: loaded and unloaded one for one."""
    contexts = 5

    def check(runtime, mode):
        cell = observe(runtime, mode, "alc-unload", contexts)
        check_unloads(cell, contexts)
        caught = collections.Counter(args["method"]["name"] for args in cell.args("exception_caught"))
        assert caught == {"Tracerd.Managed.Inhabitant.Live": contexts}, caught
        return f"{contexts} contexts, each assembly and module loaded and unloaded"

    row(check)


def test_conformance_dataincomplete():
    """Row 13: the same while collections are forced from another thread: every name is there, every pair complete."""
    contexts = 20

    def check(runtime, mode):
        cell = observe(runtime, mode, "dataincomplete", contexts)
        check_unloads(cell, contexts)
        assert len(cell.events("gc_start")) == len(cell.events("gc_end")) == cell.collections()[0]
        names = [args["method"].get("name") for args in cell.args("jit_start")]
        assert names and all(names), f"{names.count(None)} methods without a name"
        return f"{contexts} contexts, {len(names)} methods named, {len(cell.events('gc_start'))} collections"

    row(check)


def test_conformance_class_balance():
    """Row 11: seven classes that only collectible contexts have: as many loads as unloads, of the same ids."""
    contexts = 5

    def check(runtime, mode):
        cell = observe(runtime, mode, "class-balance", contexts, options=("--clr", "default,class"))
        family = {args["type"]["id"]: args["name"] for args in cell.args("type")
                  if args["name"].startswith("Tracerd.Managed.Relatives.")}
        loaded = [args["type"]["id"] for args in cell.args("class_load") if args["type"]["id"] in family]
        unloaded = [args["type"]["id"] for args in cell.args("class_unload") if args["type"]["id"] in family]
        names = collections.Counter(family[identifier] for identifier in loaded)
        expected = {"Tracerd.Managed.Relatives." + name.replace("`1", "<System.Int32>"): contexts for name in cell.facts["classes"]}
        assert len(expected) == 7 and names == expected, names
        assert collections.Counter(loaded) == collections.Counter(unloaded), (len(loaded), len(unloaded))
        return f"{len(loaded)} loads, {len(unloaded)} unloads of 7 classes"

    row(check)
