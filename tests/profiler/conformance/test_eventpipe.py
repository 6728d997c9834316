"""Events of an event source, read from inside the process."""

from matrix import NotThere, observe, row

WRITTEN = [
    ("Tracerd-Conformance:First", {"number": -7, "text": "gr\u00fc\u00dfe"}),
    ("Tracerd-Conformance:Second", {"number": 0.25, "guid": "01234567-89ab-cdef-0123-456789abcdef"}),
    ("Tracerd-Conformance:Third", {}),
]
DESCRIBED = {"First": (1, 2, "informational", 2), "Second": (2, 0, "warning", 2), "Third": (3, 0, "error", 0)}


def test_conformance_ep_parse():
    """Row 23: exactly the three events that the program wrote, in order, on its thread, each described as its source is."""
    def check(runtime, mode):
        cell = observe(runtime, mode, "ep-parse", options=("--clr", "runtime", "--provider", "Tracerd-Conformance"))
        arrived = [event for event in cell.timeline.kind("ev") if event["name"].startswith("Tracerd-Conformance")]
        if runtime == "3.1":
            said, = cell.args("unavailable")
            assert said["categories"]["names"] == ["provider"], said
            assert not arrived and not cell.facts["enabled"], (arrived, cell.facts)
            raise NotThere("3.1 has no EventPipe for profilers; it is said, and nothing came")
        assert cell.facts["enabled"] == 1, cell.facts
        assert [(event["name"], event["args"]) for event in arrived] == WRITTEN, arrived
        assert {event["tid"] for event in arrived} == {cell.facts["tid"]}, (arrived, cell.facts)
        described = {schema["event"]: (schema["event_id"], schema["version"], schema["level"]["name"], schema["fields"])
                     for schema in cell.args("event_schema") if schema["provider"] == "Tracerd-Conformance"}
        assert described == DESCRIBED, described
        assert not cell.events("event"), cell.events("event")
        return f"{len(arrived)} events, {len(described)} descriptions"

    row(check)
