"""tracerd doctor: every step tells the truth about a machine or a process that we made, and the first missing one is named."""

import json
import os

from house import BUILD, TRACERD, finish, folder, need, need_kernel, need_program, run, start

NOBODY = 65534


def doctor(*arguments, expected=0, prefix=(), **options):
    """The report as an object, and its steps by name; expected is the exit code."""
    out, err = run(*prefix, TRACERD, "doctor", "--json", *arguments, expected=expected, **options)
    report = json.loads(out)
    assert out.count("\n") == 1 and err == "", (out, err)
    steps = {step["name"]: step for step in report["steps"]}
    assert len(steps) == len(report["steps"]), "a name twice"
    missing = [step["name"] for step in report["steps"] if step["verdict"] == "no" and step["needed"]]
    assert report["ok"] == (not missing) == (expected == 0), report
    assert report["first"] == (missing[0] if missing else None), report
    assert all(bool(step.get("advice")) == (step["verdict"] == "no") for step in report["steps"]), report
    return report, steps


def verdicts(steps, *names):
    return [steps[name]["verdict"] for name in names]


# The machine

def test_doctor_where_all_is_there_says_ok_and_leaves_nothing_behind():
    need_kernel()
    process = start(TRACERD, "doctor", "--json")
    out, _ = finish(process)
    steps = {step["name"]: step for step in json.loads(out)["steps"]}
    kernel = ("tracefs", "own instance", "clock", "pid filter", "events", "ring", "library", "library format",
              "library needs", "place for sockets")
    assert verdicts(steps, *kernel) == ["ok"] * len(kernel), steps
    assert steps["library"]["found"] == str(BUILD / "lib" / "libtracerd_profiler.so"), steps
    for place in (steps["own instance"]["found"], steps["place for sockets"]["found"].split()[0]):
        assert f"tracerd-{process.pid}-" in place, place
        assert not os.path.exists(place), f"{place} was left behind"


def test_doctor_text_has_the_same_steps_and_names_the_first_missing():
    with folder() as place:
        damaged = place / "libtracerd_profiler.so"
        damaged.write_bytes(b"no library")
        environment = {**os.environ, "TRACERD_PROFILER": str(damaged)}
        report, _ = doctor("--no-kernel", expected=3, env=environment)
        out, err = run(TRACERD, "doctor", "--no-kernel", expected=3, env=environment)
        assert err == ""
        lines = [line.split("  ") for line in out.splitlines() if line.startswith("  ")]
        told = [line[1].split()[0] for line in lines]
        assert [step["verdict"] for step in report["steps"]] == [word for word in told if word in ("ok", "no", "-")], out
        first = next(step for step in report["steps"] if step["name"] == report["first"])
        assert f"First missing: {report['first']}: " in out, out
        assert f"What to do: {first['advice']}" in out, out


def test_doctor_library_that_is_none_or_not_there_is_the_first_missing():
    with folder() as place:
        for path, first in ((place / "nowhere.so", "library"), (place / "text.so", "library format"),
                            (place / "foreign.so", "library format")):
            if path.name == "text.so":
                path.write_text("no library\n")
            if path.name == "foreign.so":
                content = bytearray((BUILD / "lib" / "libtracerd_profiler.so").read_bytes())
                content[18:20] = (183 if content[18] != 183 else 62).to_bytes(2, "little")  # e_machine
                path.write_bytes(content)
            report, steps = doctor("--no-kernel", expected=3, env={**os.environ, "TRACERD_PROFILER": str(path)})
            assert report["first"] == first, report


def test_doctor_library_whose_own_libraries_are_missing_names_them():
    need_program("gcc")
    with folder() as place:
        for name, more in (("absent", ()), ("needy", ("-Wl,--no-as-needed", f"-L{place}", "-labsent"))):
            run("gcc", "-shared", "-o", place / f"lib{name}.so", "-x", "c", "/dev/null", *more)
        (place / "libabsent.so").unlink()
        report, steps = doctor("--no-kernel", expected=3,
                               env={**os.environ, "TRACERD_PROFILER": str(place / "libneedy.so")})
        assert report["first"] == "library needs", report
        assert "libabsent.so" in steps["library needs"]["found"], report


def test_doctor_as_an_ordinary_user_says_that_the_kernel_needs_root():
    need_kernel()
    need_program("setpriv")
    nobody = ("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "--inh-caps=-all")
    report, steps = doctor(expected=3, prefix=nobody)
    assert report["first"] == "own instance", report
    assert "root" in steps["own instance"]["advice"], report
    assert verdicts(steps, "clock", "pid filter", "events", "ring") == ["-"] * 4, report
    report, _ = doctor("--no-kernel", prefix=nobody)
    assert not {"tracefs", "own instance"} & {step["name"] for step in report["steps"]}, report
