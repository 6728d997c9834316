"""The table of rows against the tests that there are."""

import json
import pathlib
import re

from house import BUILD, need_program, run

ROWS = 31  # of the runtime's own tests; others have a +
README = pathlib.Path(__file__).with_name("README.md")


def table():
    """(row, id, tests, cells, text) of each line of the table."""
    lines = [line for line in README.read_text(encoding="utf-8").splitlines() if line.startswith("|")]
    for line in lines[2:]:
        number, name, tests, cells, text = [part.strip() for part in line.strip("|").split("|")]
        yield number, name, re.findall(r"`([^`]+)`", tests), cells, text


def test_conformance_table_names_what_there_is():
    need_program("ctest")
    listing, _ = run("ctest", "--show-only=json-v1", cwd=BUILD)
    tests = json.loads(listing)["tests"]
    names = {test["name"] for test in tests}
    ours = {name for name in names if name.startswith("test_conformance_")}
    named = [test for row in table() for test in row[2]]
    for test in named:
        # A name that ends with _* stands for one entry a runtime.
        found = test in names if not test.endswith("_*") else any(name.startswith(test[:-1]) for name in names)
        assert found, f"the table names {test}, which ctest does not have"
    untold = ours - set(named) - {"test_conformance_table_names_what_there_is"}
    assert not untold, f"not in the table: {sorted(untold)}"
    identifiers = [row[1] for row in table()]
    assert len(set(identifiers)) == len(identifiers), "an id twice"
    numbers = {int(number) for row in table() for number in re.findall(r"\d+", row[0])}
    assert numbers == set(range(1, ROWS + 1)), f"not in the table: {set(range(1, ROWS + 1)) - numbers}"
    for number, name, tests, cells, text in table():
        assert text and cells, f"row {number} {name} does not say what it is"
        assert tests or cells.startswith("none"), f"row {number} {name} has no test and does not say why"
