"""Other profilers in the same process: living with them, and with those that cannot come in."""

import collections
import contextlib
import os
import shutil

import diagnostics
from house import BUILD, folder, need, wait_until
from matrix import observe, read_to, row, say

BYSTANDER = BUILD / "lib" / "libbystander.so"
NOTIFIES, REFUSES, DETACHES = 1, 2, 4  # the parts of bystander.c
LARGE_RING = {"TRACERD_CLR_BUFFER": "64M/4M"}
E_FAIL = 0x80004005


def class_of(part):
    return f"{{{part:08X}-0000-4000-8000-000000000001}}"


@contextlib.contextmanager
def bystanders(*names):
    """One library each: what is loaded twice from one file is one."""
    need(BYSTANDER.exists(), f"{BYSTANDER}, which the build makes")
    with folder() as place:
        yield [shutil.copy(BYSTANDER, place / f"{name}.so") for name in names]


def log_of(library):
    with open(f"{library}.log", encoding="utf-8") as log:
        return log.read().split()


def part_that_leaves(number):
    """One after the other: of those that want to leave at one moment .NET 8 lets only the last one go, whoever is there."""
    return NOTIFIES | DETACHES | (number + 1) << 8


def test_conformance_coexist_n():
    """Row 24: four notification profilers from the start and four attached, all see the first act, all detach; ours, in
    whatever slot, sees both acts."""
    def check(runtime, mode):
        def talk(process, pid):
            for number, library in enumerate(libraries[4:], 4):
                assert diagnostics.attach(pid, library, class_of(part_that_leaves(number))) == diagnostics.OK
            say(process, "go")
            read_to(process, "holding")
            for library in libraries:
                say(process, "next")
                wait_until(lambda log=f"{library}.log": os.path.exists(log), f"{library} to detach")
            say(process, "go")

        with bystanders(*(f"{kind}-{i}" for kind in ("start", "attach") for i in range(4))) as libraries:
            early = "".join(f"{library}={class_of(part_that_leaves(number))};"
                            for number, library in enumerate(libraries[:4]))
            environment = {"CORECLR_ENABLE_NOTIFICATION_PROFILERS": "1", "CORECLR_NOTIFICATION_PROFILERS": early}
            cell = observe(runtime, mode, "coexist", environment=environment, talk=talk)
            logs = [log_of(library) for library in libraries]
        assert logs == [["detached", "3", "5"]] * 8, logs
        types = collections.Counter(args["type"] for args in cell.args("exception_thrown"))
        assert types == cell.facts["thrown"] == {"Tracerd.Managed.FirstAct": 5, "Tracerd.Managed.SecondAct": 4}, types
        assert len(cell.events("gc_start")) == len(cell.events("gc_end")) == cell.collections()[0] == 5
        return "8 others saw 3 collections and 5 exceptions and left; ours saw 5 and 9"

    row(check, runtimes=("8", "9", "10"))


def test_conformance_attach_fail_isolation():
    """Row 5: while the program collects, profilers try to attach and fail, on their own account or because the main slot
    is taken: ours goes on, and every collection is there."""
    tries = 5

    def check(runtime, mode):
        answers = collections.Counter()

        def talk(process, pid):
            say(process, "go")
            read_to(process, "holding")
            for _ in range(tries):
                for library, part in ((libraries[0], REFUSES | NOTIFIES), (libraries[1], 0)):
                    answers[f"{diagnostics.attach(pid, library, class_of(part)):#x}"] += 1
            say(process, "stop")

        with bystanders("refuses", "main") as libraries:
            cell = observe(runtime, mode, "collecting", environment=LARGE_RING, talk=talk)
        # 3.1 has one slot, which is taken: it does not even ask.
        expected = ({f"{diagnostics.ALREADY_ACTIVE:#x}": 2 * tries} if runtime == "3.1" else
                    {f"{E_FAIL:#x}": tries, f"{diagnostics.ALREADY_ACTIVE:#x}": tries})
        assert answers == expected, answers
        starts = len(cell.events("gc_start"))
        assert starts == len(cell.events("gc_end")) == cell.collections()[0], (starts, cell.collections())
        return f"{dict(answers)} while there were {starts} collections"

    row(check)
