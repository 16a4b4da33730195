#!/usr/bin/env python3
"""Recomputes clocks.json, folds.json, digests.json and revocations.json with reference.py, and checks the digests in
pushes.json: `python3 check.py`. This ensures that two implementations agree on every vector."""

import json
import re
import sys
from pathlib import Path

import reference
from reference import read_bytes, read_clock, read_date, write_clock


def expect(found, expected):
    assert found == expected, f"{json.dumps(found)}, not {json.dumps(expected)}"


def check_clock(case):
    match case:
        case {"text": text, "bytes": data}:
            clock = read_clock(text)
            assert clock == (case["milliseconds"], case["counter"], int(case["node"], 16))
            assert clock == read_bytes(bytes.fromhex(data)) and reference.clock_bytes(clock).hex() == data
            assert write_clock(clock) == case.get("written", text)
        case {"malformed": text}:
            assert read_clock(text) is None
        case {"malformedNode": text}:
            assert not re.fullmatch("[0-9a-fA-F]{16}", text)
        case {"malformedBytes": data}:
            assert read_bytes(bytes.fromhex(data)) is None
        case {"ascending": texts}:
            assert texts == sorted(texts) and len(texts) == len(set(texts)) > 1
            assert texts == sorted(texts, key=read_clock)
            assert texts == sorted(texts, key=lambda text: reference.clock_bytes(read_clock(text)))
        case {"steps": steps}:
            seen = None
            for step in steps:
                if "tick" in step:
                    clock = reference.tick(seen, read_date(step["tick"]), int(case["node"], 16))
                    expect(write_clock(clock), step["clock"])
                    seen = clock[:2]
                elif "observe" in step:
                    seen = max(seen or (0, 0), read_clock(step["observe"])[:2])
                else:
                    seen = read_clock(step["setBack"])[:2]
        case {"isAhead": expected}:
            greatest = read_clock(case["greatest"]) if "greatest" in case else None
            assert reference.is_ahead(read_clock(case["clock"]), read_date(case["now"]), greatest) == expected
        case _:
            raise AssertionError("unknown kind of case")


def check_fold(case):
    objects, deleted = reference.fold(case["edits"], case.get("deletedObjects", []))
    page = {}
    for one in objects.values():
        page.setdefault(reference.SECTIONS.get(one["type"], "objects"), []).append(reference.state(one))
    if deleted:
        page["deletedObjects"] = list(deleted.values())
    page = {section: sorted(shown, key=lambda one: one["uniqueID"]) for section, shown in page.items()}
    expect(page, case["objects"])
    expect(reference.scope_digest(page), case["digest"])
    for id, members in case.get("members", {}).items():
        for kind, listed in members.items():
            expect(reference.resolved(objects[id], kind, objects, deleted), listed)


def check_digest(case):
    if "objects" in case:
        expect(reference.scope_digest(case["objects"]), case["digest"])
        return
    shown = case["object"]
    is_deleted = "deletionDate" in shown
    lines = reference.deleted_lines(shown) if is_deleted else reference.state_lines(case["objectType"], shown)
    expect(lines, case["lines"])
    expect(reference.digest(lines).hex(), case["digest"])


def check_push(case):
    """The reference does not merge pushes. It checks only the digest of the result."""
    expect(reference.scope_digest(case["objects"]), case["digest"])


def check_revocation(case):
    expected = {name: case[name] for name in ("outcome", "putBack", "older", "keeps") if name in case}
    expect(reference.rewind(case), expected)


CHECKS = {
    "clocks": check_clock, "folds": check_fold, "digests": check_digest, "pushes": check_push,
    "revocations": check_revocation,
}


def cases(kind):
    return json.loads((Path(__file__).parent / f"{kind}.json").read_text(encoding="utf-8"))


def main():
    failed = 0
    for kind, check in CHECKS.items():
        names = [case["name"] for case in cases(kind)]
        assert len(names) == len(set(names)), f"{kind}.json: names must be unique"
        for case in cases(kind):
            try:
                check(case)
            except AssertionError as error:
                failed += 1
                print(f"{kind}.json: {case['name']}: {error}")
        print(f"{kind}.json: {len(names)} cases")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
