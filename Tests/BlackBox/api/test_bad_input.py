"""Invalid input is refused with a problem that names the cause and its location. The other changes of a push are applied.

`test_sync.py` tests wrong types and missing clocks of a note's fields.
"""

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import clocks
import contract_document
import pytest
from client import Client
from rows import CLOCK, Row, check_problem, parametrize
from writer import Writer, deleted, new_id

MIB = 1 << 20
PUSH_BYTES = 8 * MIB
JSON = {"Content-Type": "application/json"}


@pytest.fixture(scope="module")
def somebody(server) -> Client:
    """An account for this file, because changes at the limits are large."""
    return server.client()


# Malformed JSON is refused as a whole, with the byte offset. GOOD is replaced by a valid note.

MALFORMED = [
    ("empty", b"", "missing at the end"),
    ("blank", b" \r\n\t", "missing at the end"),
    ("NUL only", b"\0", "cannot begin"),
    ("a byte order mark", b"\xef\xbb\xbf{}", "cannot begin"),
    ("UTF-16", '{"changes": {}}'.encode("utf-16-le"), "no name"),
    ("cut off in a list", '{"changes": {"notes": [GOOD', "neither , nor ]"),
    ("cut off in a string", '{"changes": {"notes": [GOOD]}, "syncToken": "abc', "does not end"),
    ("cut off in an escape", '{"changes": {"notes": [GOOD]}, "syncToken": "\\u12', "four hex digits"),
    ("cut off in a word", '{"changes": {"notes": [GOOD]}, "limit": tru', "cannot begin"),
    ("text after the value", '{"changes": {"notes": [GOOD]}} x', "follows"),
    ("a second value", '{"changes": {"notes": [GOOD]}} {}', "follows"),
    ("NUL after the value", '{"changes": {"notes": [GOOD]}}\0', "follows"),
    ("a comma too many in an object", '{"changes": {"notes": [GOOD]},}', "no name"),
    ("a comma too many in a list", '{"changes": {"notes": [GOOD,]}}', "cannot begin"),
    ("a comma missing", '{"changes": {"notes": [GOOD GOOD]}}', "neither , nor ]"),
    ("a colon missing", '{"changes" {"notes": [GOOD]}}', "followed by a colon"),
    ("a name without quotes", '{changes: {"notes": [GOOD]}}', "no name"),
    ("single quotes", "{'changes': {}}", "no name"),
    ("a comment", '{/* now */ "changes": {"notes": [GOOD]}}', "no name"),
    ("NaN", '{"changes": {"notes": [GOOD]}, "limit": NaN}', "cannot begin"),
    ("-Infinity", '{"changes": {"notes": [GOOD]}, "limit": -Infinity}', "number"),
    ("a number out of range of a double", '{"changes": {"notes": [GOOD]}, "limit": 1e400}', "too large"),
    ("a number of 10,000 digits", '{"changes": {"notes": [GOOD]}, "limit": ' + "9" * 10_000 + "}", "too large"),
    ("a leading zero", '{"changes": {"notes": [GOOD]}, "limit": 010}', "number"),
    ("a leading plus", '{"changes": {"notes": [GOOD]}, "limit": +1}', "cannot begin"),
    ("a decimal point without digits", '{"changes": {"notes": [GOOD]}, "limit": 1.}', "no digit after its point"),
    ("an exponent without digits", '{"changes": {"notes": [GOOD]}, "limit": 1e}', "no digit in its exponent"),
    ("a hexadecimal number", '{"changes": {"notes": [GOOD]}, "limit": 0x10}', "neither , nor }"),
    ("a line break in a string", '{"changes": {"notes": [GOOD]}, "syncToken": "a\nb"}', "control character"),
    ("NUL in a string", '{"changes": {"notes": [GOOD]}, "syncToken": "a\0b"}', "control character"),
    ("an unknown escape", '{"changes": {"notes": [GOOD]}, "syncToken": "\\x41"}', "escape"),
    ("invalid UTF-8", b'{"changes": {"notes": [GOOD]}, "syncToken": "\xff"}', "UTF-8"),
    ("Latin-1", b'{"changes": {"notes": [GOOD]}, "syncToken": "caf\xe9"}', "UTF-8"),
    ("UTF-8, a surrogate", b'{"changes": {"notes": [GOOD]}, "syncToken": "\xed\xa0\x80"}', "UTF-8"),
    ("UTF-8, an overlong encoding", b'{"changes": {"notes": [GOOD]}, "syncToken": "\xc0\x80"}', "UTF-8"),
    ("UTF-8, a code point out of range", b'{"changes": {"notes": [GOOD]}, "syncToken": "\xf4\x90\x80\x80"}', "UTF-8"),
    ("UTF-8, truncated", b'{"changes": {"notes": [GOOD]}, "syncToken": "\xe2\x82"}', "UTF-8"),
    ("invalid UTF-8 in a name", b'{"changes": {"notes": [GOOD]}, "\xff": 1}', "UTF-8"),
    ("invalid UTF-8 after the value", b'{"changes": {"notes": [GOOD]}}\xff', "follows"),
    ("an unpaired high surrogate", '{"changes": {"notes": [GOOD]}, "syncToken": "\\ud83d"}', "surrogate"),
    ("an unpaired low surrogate", '{"changes": {"notes": [GOOD]}, "syncToken": "\\ude00"}', "surrogate"),
    ("surrogates in the wrong order", '{"changes": {"notes": [GOOD]}, "syncToken": "\\ude00\\ud83d"}', "surrogate"),
    ("an unpaired surrogate in a name", '{"changes": {"notes": [GOOD]}, "\\ud83d": 1}', "surrogate"),
    ("a key twice", '{"changes": {"notes": [GOOD]}, "limit": 5, "limit": 5}', '"limit" is used twice'),
    ("a key twice, once escaped", '{"changes": {"notes": [GOOD]}, "limit": 5, "\\u006cimit": 5}', "is used twice"),
    ("a key twice, far apart", '{"changes": {"notes": [GOOD]}, ' + "".join(f'"a{index}": 0, ' for index in range(99))
     + '"changes": {}}', '"changes" is used twice'),
    ("a key twice, deep inside", '{"changes": {"notes": [GOOD, {"uniqueID": "a", "uniqueID": "b"}]}}', "is used twice"),
    ("17 deep", '{"changes": {"notes": [GOOD, ' + "[" * 14 + "]" * 14 + "]}}", "more than 16 levels deep"),
    ("100,000 lists deep", '{"changes": {"notes": [GOOD, ' + "[" * 100_000, "more than 16 levels deep"),
    ("100,000 objects deep", '{"changes": {"notes": [GOOD, ' + '{"a":' * 100_000, "more than 16 levels deep"),
]  # fmt: skip


@pytest.mark.parametrize(("body", "what"), [row[1:] for row in MALFORMED], ids=[row[0] for row in MALFORMED])
def test_malformed(writer, body, what):
    note = writer.note(text="good")
    body = body if isinstance(body, bytes) else body.encode("utf-8", "surrogatepass")
    body = body.replace(b"GOOD", json.dumps(note).encode())
    response = writer.client.post("/v1/sync", data=body, headers=JSON)
    problem = check_problem(response, "malformed-request", 400)
    assert what in problem["detail"], problem["detail"]
    [at] = re.findall(r"at byte (\d+)\.$", problem["detail"])
    assert int(at) <= len(body)
    assert writer.client.get(f"/v1/notes/{note['uniqueID']}").status_code == 404


def test_a_depth_of_16_is_accepted(writer):
    note = writer.note(text="good")
    deep = json.loads("[" * 13 + "]" * 13)
    bad, good = writer.push(notes=[deep, note])["results"]
    assert (bad["problem"]["slug"], good["status"]) == ("invalid-field", "applied")


def test_250000_values_are_accepted(writer):
    values = writer.client.get("/v1/server").json()["limits"]["jsonValues"]
    # The two lists count as values.
    many = "[[%s]]" % ",".join(["0"] * (values - 2))
    headers = {"Content-Type": "application/json"}
    just = writer.client.request("POST", "/v1/notes", data=many, headers=headers)
    assert just.status_code in (400, 422), just.text
    over = writer.client.request("POST", "/v1/notes", data=many.replace("]]", ",0]]"), headers=headers)
    assert (over.status_code, over.json()["slug"], over.json()["limit"]) == (413, "too-large", values)


# Every operation of the contract with a JSON body.


def operations_with_a_body() -> Iterator[Any]:
    for path, method, operation, _ in contract_document.operations(contract_document.load()):
        if "requestBody" in operation:
            path = path.replace("{uniqueID}", new_id())
            [(media, entry)] = operation["requestBody"]["content"].items()
            if media != "application/json":
                continue
            example = next(contract_document.examples(entry))
            yield pytest.param(method.upper(), path, example, id=operation["operationId"])


@pytest.mark.parametrize(("method", "path", "example"), list(operations_with_a_body()))
def test_every_body(somebody, method, path, example):
    """Checks that precede the validation of the content give the same errors for every body."""
    if path.startswith("/v1/devices/"):  # an unknown device is reported first
        known = somebody.get("/v1/devices").json()["devices"][0]["uniqueID"]
        path = re.sub(r"(?<=/devices/)[^/]+", known, path)

    def send(body: bytes, **headers: str):
        return somebody.request(method, path, data=body, headers=JSON | headers)

    check_problem(send(b""), "malformed-request", 400)
    check_problem(send(b'{"a": '), "malformed-request", 400)
    check_problem(send(b'{"a": "\xff"}'), "malformed-request", 400)
    check_problem(send(b'{"a": 1, "a": 2}'), "malformed-request", 400)
    check_problem(send(b"[" * 17), "malformed-request", 400)
    for other in (b"[]", b'"x"', b"null", b"5"):
        check_problem(send(other), "invalid-field", 422, "")
    good = json.dumps(example).encode()
    kinds = ["multipart/form-data; boundary=x", "json", ""]
    if method != "POST" or not path.startswith("/v1/notes"):  # these accept texts and forms (test_capture.py)
        kinds += ["text/plain", "application/x-www-form-urlencoded"]
    for kind in kinds:
        problem = check_problem(send(good, **{"Content-Type": kind}), "unsupported-media-type", 415)
        assert "curl --json" in problem["detail"]
    unknown = json.dumps(example | {"a/b~c\u0000": 1}).encode()
    problem = check_problem(send(unknown), "unknown-field", 422, "/a~1b~0c\u0000")
    assert "Known fields" in problem["detail"]


# Only the element of a push that is invalid is refused.

NODE = "9f86d081884c7d65"


@dataclass
class Bad:
    """An invalid element that `make` creates. `field`: the invalid field, or None for all of it. `at`: its JSON pointer."""

    name: str
    section: str
    make: Callable[[Writer], dict]
    field: str | None
    at: str | None = None
    slug: str = "invalid-field"
    limit: int | None = None


def note(name: str, field: str, value: Any, **more: Any) -> Bad:
    """A note with one invalid field that has a clock."""
    return Bad(name, "notes", lambda writer: writer.note(attributes={"good": 1}, **{field: value}), field, **more)


def attribute(name: str, value: Any, key: str = "bad", **more: Any) -> Bad:
    at = f"/attributes/{key.replace('~', '~0').replace('/', '~1')}"
    return Bad(
        name, "notes", lambda writer: writer.note(attributes={"good": 1, key: value}), f"attributes.{key}", at, **more
    )


def clock(name: str, value: Any, **more: Any) -> Bad:
    def make(writer: Writer) -> dict:
        stamp = value(writer) if callable(value) else value
        change = writer.note(text="bad", attributes={"good": 1})
        return change | {"clocks": change["clocks"] | {"text": stamp}}

    return Bad(name, "notes", make, "text", "/clocks/text", **more)


def attachment(name: str, field: str, value: Any, slug: str = "invalid-field", **more: Any) -> Bad:
    return Bad(name, "attachments", lambda _: {"uniqueID": new_id(), field: value}, field, slug=slug, **more)


def deletion(name: str, at: str, slug: str = "invalid-field", **more: Any) -> Bad:
    def make(_: Writer) -> dict:
        unique_id = new_id()
        return {"uniqueID": unique_id} | {key: unique_id if value == "itself" else value for key, value in more.items()}

    return Bad(name, "deletedObjects", make, None, at, slug)


ELEMENTS = [
    # Text.
    note("text, NUL", "text", "a\0b"),
    note("text, 1 MiB and a byte", "text", "a" * (MIB + 1), limit=MIB),
    note("text, 1 MiB in characters, more in bytes", "text", "é" * (MIB // 2 + 1), limit=MIB),
    Bad("textBaseValue, 1 MiB and a byte", "notes", lambda writer: writer.note(
        attributes={"good": 1}, base=writer.tick()) | {"textBaseValue": "a" * (MIB + 1)}, "textBaseValue", limit=MIB),
    # Dates: RFC 3339, years 0001 to 9999 in UTC.
    *[note(f"date, {value!r}", "sortDate", value) for value in (
        "0000-12-31T23:59:59.999Z", "0001-01-01T00:00:00+00:01", "9999-12-31T23:59:59-00:01",
        "9999-12-31T23:59:59.9995Z", "10000-01-01T00:00:00Z", "-0001-01-01T00:00:00Z", "+2024-01-01T00:00:00Z",
        "2024-02-30T00:00:00Z", "2023-02-29T00:00:00Z", "2024-13-01T00:00:00Z", "2024-00-01T00:00:00Z",
        "2024-01-00T00:00:00Z", "2024-01-01T24:00:00Z", "2024-01-01T00:60:00Z", "2024-01-01T00:00:61Z",
        "2024-01-01T00:00:00+24:00", "2024-01-01T00:00:00+0100", "2024-01-01T00:00:00", "2024-01-01",
        "2024-01-01 00:00:00Z", "2024-01-01T00:00:00.Z", "2024-01-01T00:00Z", "20240101T000000Z",
        "2024-W01-1T00:00:00Z", " 2024-01-01T00:00:00Z", "2024-01-01T00:00:00Z\n", "٢٠٢٤-01-01T00:00:00Z",
        "Mon, 01 Jan 2024 00:00:00 GMT", "now", "", 1704067200, 1.5, True, None, [], {})],
    # Attributes: at most 64 of 8 KiB each. Integers must be exact in a double.
    *[attribute(f"attribute, {value}", value, limit=2**53 - 1)
      for value in (2**53, -(2**53), 2**63, 2**64, 1e300, -1e300)],
    attribute("attribute, NUL", "a\0b"),
    attribute("attribute, 8 KiB and a byte of JSON", "a" * (8_192 - 1), limit=8_192),
    attribute("attribute, 8 KiB by its escapes", "\n" * 4_096, limit=8_192),
    attribute("attribute, a list", [1]),
    attribute("attribute, an object", {"a": 1}),
    attribute("attribute's name, empty", 1, ""),
    attribute("attribute's name, 65 letters", 1, "a" * 65),
    attribute("attribute's name, starts with a digit", 1, "1a"),
    attribute("attribute's name, a space", 1, "a b"),
    attribute("attribute's name, not ASCII", 1, "é"),
    attribute("attribute's name, escaped in a pointer", 1, "a/b~c"),
    attribute("attribute's name, NUL", 1, "a\0"),
    Bad("attributes, 65 of a note", "notes", lambda writer: writer.note(
        attributes={"good": 1} | {f"a{index}": 1 for index in range(64)}),
        "attributes.a63", "/attributes/a63", limit=64),
    Bad("attributes, 65 of a tag", "tags", lambda writer: writer.tag(
        new_id(), good=1, **{f"a{index}": 1 for index in range(64)}), "attributes.a63", "/attributes/a63", limit=64),
    Bad("attributes, 257 of an app's object", "objects", lambda writer: writer.thing(
        good=1, **{f"a{index}": 1 for index in range(256)}), "attributes.a255", "/attributes/a255", limit=256),
    # Members: at most 1,000, including removed ones.
    Bad("tags, 1,001", "notes", lambda writer: writer.note(
        attributes={"good": 1}, tags={new_id(): True for _ in range(1_001)}), "tags", limit=1_000),
    # Clocks.
    clock("clock, ahead by 5 minutes and some", lambda writer: writer.ahead(5.5), slug="clock-ahead"),
    clock("clock, ahead by years", lambda writer: writer.ahead(60 * 24 * 365 * 3), slug="clock-ahead"),
    clock("clock, the greatest possible", "9999-12-31T23:59:59.999Z-ffff-ffffffffffffffff", slug="clock-ahead"),
    *[clock(f"clock, {value!r}", value) for value in (
        "", "now", f"2024-01-01T00:00:00.000Z-0000-{NODE[1:]}", f"2024-01-01T00:00:00.000Z-0000-{NODE}0",
        f"2024-01-01T00:00:00.000Z-000-{NODE}", f"2024-01-01T00:00:00.000Z-000g-{NODE}",
        "2024-01-01T00:00:00.000Z-0000", f"2024-01-01T00:00:00Z-0000-{NODE}", f"2024-01-01T00:00:00.000Z 0000 {NODE}",
        f"2024-13-01T00:00:00.000Z-0000-{NODE}", f"10889-08-02T05:31:50.655Z-0000-{NODE}",
        f"2024-01-01T00:00:00.000Z-0000-{NODE}\n", 0, 1.5, True, None, [], {})],
    # Tags.
    *[Bad(f"tag's name, {name}", "tags", lambda writer, value=value: writer.tag(value, good=1), "name", limit=limit)
      for name, value, limit in (("257 bytes", "a" * 257, 256), ("257 bytes in fewer letters", "é" * 128 + "a", 256),
                                 ("blank", " \t\n", None), ("empty", "", None), ("NUL", "a\0", None))],
    # App-defined objects.
    *[Bad(f"objectType, {kind!r}", "objects", lambda writer, kind=kind: writer.thing(good=1) | {"objectType": kind},
          "objectType") for kind in ("note", "tag", "attachment", "", "a b", "1a", "a" * 65, "a\0", 5, None)],
    # Attachment properties. The elements would be refused anyway, because their bytes are missing.
    attachment("mimeType, no slash", "mimeType", "jpeg"),
    attachment("mimeType, a parameter", "mimeType", "text/plain; charset=utf-8"),
    attachment("width, negative", "width", -1),
    attachment("width, half a pixel", "width", 1.5),
    attachment("height, a string", "height", "1"),
    attachment("byteCount, huge", "byteCount", 2**53),
    attachment("filename, 1,025 bytes", "filename", "a" * 1_025, limit=1_024),
    attachment("filename, NUL", "filename", "a\0.png"),
    attachment("preview, no base64", "preview", "not base64"),
    attachment("preview, more than 8 KiB", "preview", "A" * 8_196, limit=8_192),
    attachment("sha256, too short", "sha256", "ab"),
    attachment("sha256, no hex", "sha256", "g" * 64),
    attachment("an unknown property", "colour", "red", slug="unknown-field"),
    # DeletedObjects are refused as a whole.
    deletion("deleted, no type", "/objectType"),
    deletion("deleted, an invalid type", "/objectType", objectType="a b"),
    deletion("deleted, a type that is a number", "/objectType", objectType=5),
    deletion("deleted, merged into itself", "/mergedInto", objectType="tag", mergedInto="itself"),
    deletion("deleted, a note merged", "/mergedInto", objectType="note", mergedInto=new_id()),
    deletion("deleted, merged into no ID", "/mergedInto", objectType="tag", mergedInto="Paris"),
    deletion("deleted, in the year 10000", "/deletionDate", objectType="note", deletionDate="10000-01-01T00:00:00Z"),
    deletion("deleted, with a text", "/text", "unknown-field", objectType="note", text="x"),
]  # fmt: skip


@pytest.mark.parametrize("bad", ELEMENTS, ids=[bad.name.encode("unicode_escape").decode() for bad in ELEMENTS])
def test_refused_in_its_element(writer, bad):
    element, good = bad.make(writer), writer.note(text="valid")
    sections = {bad.section: [element]}
    sections.setdefault("notes", []).append(good)
    answer = writer.push(**sections)
    results = {result["uniqueID"]: result for result in answer["results"]}
    result = results[element["uniqueID"]]
    assert (result["status"], results[good["uniqueID"]]["status"]) == ("rejected", "applied"), result
    if bad.field is None:
        problem = result["problem"]
    else:
        rejected = {name: field for name, field in result["fields"].items() if field["outcome"] == "rejected"}
        assert list(rejected) == [bad.field]
        problem = rejected[bad.field]["problem"]
    at = f"/changes/{bad.section}/0" + (f"/{bad.field}" if bad.at is None else bad.at)
    if bad.slug == "clock-ahead":
        at = at.replace("/clocks", "")
        assert problem["serverClock"] == CLOCK
    assert (problem["slug"], problem["status"], problem["pointer"]) == (bad.slug, 422, at)
    assert problem.get("limit") == bad.limit
    assert problem["title"] and problem["detail"].endswith(".") and len(problem["detail"]) < 300
    # The refused field is not stored. The other fields of the object are.
    state = writer.state(bad.section, element["uniqueID"])
    if bad.section == "attachments" or bad.field in (None, "objectType", "name"):  # the object does not exist without it
        assert state is None
        return
    assert state["attributes"]["good"] == 1
    assert bad.field.removeprefix("attributes.") not in state["attributes"]
    assert bad.field not in state["clocks"] or state["clocks"][bad.field] == {}
    if bad.section == "notes":
        edits = writer.client.get(f"/v1/notes/{element['uniqueID']}/edits").json()["edits"]
        assert bad.field not in {edit["attribute"] for edit in edits}
        assert not any(edit["attribute"].startswith("tags.") for edit in edits)


# Values at the limit are accepted.


def limits(writer: Writer) -> dict[str, tuple[str, dict]]:
    date = "2024-01-01T00:00:00Z"
    return {
        "text, 1 MiB": ("notes", writer.note(text="a" * MIB)),
        "the earliest date": ("notes", writer.note(sortDate="0001-01-01T00:00:00.000Z", created=date)),
        "the latest date": ("notes", writer.note(sortDate="9999-12-31T23:59:59.999Z", created=date)),
        "8 KiB of JSON": ("notes", writer.note(attributes={"a": "a" * (8_192 - 2), "b": "\n" * 4_095})),
        "whole numbers": ("notes", writer.note(attributes={"most": 2**53 - 1, "least": -(2**53 - 1), "half": 0.5})),
        "a name of 64": ("notes", writer.note(attributes={"a" * 64: 1, "A_.-9": None})),
        "64 attributes": ("notes", writer.note(attributes={f"a{index}": index for index in range(64)})),
        "1,000 tags": ("notes", writer.note(tags={new_id(): True for _ in range(1_000)})),
        "a clock 4 minutes ahead": ("notes", writer.note(text="x", clock=writer.ahead(4))),
        "a clock of 1970": ("notes", writer.note(text="x", clock="1970-01-01T00:00:00.000Z-0000-" + NODE)),
        "the greatest counter": ("notes", writer.note(text="x", clock=clocks.clock(clocks.wall(), 0xFFFF, NODE))),
        "a tag's name of 256": ("tags", writer.tag(new_id() + "é" * 110)),
        "256 attributes": ("objects", writer.thing("a" * 64, **{f"a{index}": index for index in range(256)})),
    }


def test_at_the_limits(fresh_writer):
    """All changes are in one push. Every value is returned as sent."""
    sent = limits(fresh_writer)
    sections: dict[str, list] = {}
    for section, change in sent.values():
        sections.setdefault(section, []).append(change)
    answer = fresh_writer.push(**sections)
    assert [result["status"] for result in answer["results"]] == ["applied"] * len(sent), answer["results"]
    states = {state["uniqueID"]: state for section in sections for state in fresh_writer.client.read_all()[0][section]}
    for name, (_, change) in sent.items():
        state = states[change["uniqueID"]]
        for key in set(change) - {"clocks", "creationDate", "tags"}:
            assert state[key] == change[key], name
        assert sorted(state.get("tags", [])) == sorted(change.get("tags", [])), name
        for key, stamp in change["clocks"].items():
            assert state["clocks"][key] == stamp, name


def test_limits_include_existing_members(writer):
    """A further attribute or member in a later push is refused. A new value of an existing one is accepted."""
    full = writer.note(attributes={f"a{index}": 1 for index in range(64)}, tags={new_id(): False for _ in range(1_000)})
    assert writer.push_one("notes", full)["status"] == "applied"
    tag = new_id()
    known = next(iter(full["clocks"]["tags"]))
    more = writer.edit(full["uniqueID"], attributes={"b": 1, "a0": 2}, tags={tag: True, known: True})
    result = writer.push_one("notes", more)
    problems = {name: field["problem"] for name, field in result["fields"].items()}
    assert {name: problem["limit"] for name, problem in problems.items()} == {"attributes.b": 64, f"tags.{tag}": 1_000}
    assert problems[f"tags.{tag}"]["pointer"] == f"/changes/notes/0/clocks/tags/{tag}"
    state = writer.state("notes", full["uniqueID"])
    assert (len(state["attributes"]), state["attributes"]["a0"]) == (64, 2)
    assert len(state["clocks"]["tags"]) == 1_000 and len(state["tags"]) == 1


# A push over the limits is refused as a whole.


def test_2000_objects_per_push(fresh_writer):
    changes = [fresh_writer.note() for _ in range(1_500)]
    tombstones = [deleted(new_id()) for _ in range(501)]
    refused = fresh_writer.client.post("/v1/sync", {"changes": {"notes": changes, "deletedObjects": tombstones}})
    problem = check_problem(refused, "too-large", 413, "/changes/deletedObjects")
    assert problem["limit"] == 2_000
    one = fresh_writer.client.post("/v1/deleted-objects", {"deletedObjects": tombstones * 4})
    assert check_problem(one, "too-large", 413, "/deletedObjects")["limit"] == 2_000
    assert not any(fresh_writer.client.read_all()[0].values())
    results = fresh_writer.push(notes=changes, deletedObjects=tombstones[1:])["results"]
    assert [result["status"] for result in results] == ["applied"] * 2_000


@pytest.mark.parametrize("in_chunks", [False, True], ids=["with its length", "in chunks"])
def test_8_mib_per_push(writer, in_chunks):
    first, second = writer.note(text="too much"), writer.note(text="just enough")

    def send(change: dict, size: int):
        body = json.dumps({"changes": {"notes": [change]}}).encode().ljust(size)
        parts = (body[start : start + MIB] for start in range(0, size, MIB))
        return writer.client.post("/v1/sync", data=parts if in_chunks else body, headers=JSON)

    assert check_problem(send(first, PUSH_BYTES + 1), "too-large", 413)["limit"] == PUSH_BYTES
    assert send(second, PUSH_BYTES).json()["results"][0]["status"] == "applied"
    assert writer.client.get(f"/v1/notes/{first['uniqueID']}").status_code == 404


# The routes of single objects refuse the whole request.

PLAIN = [
    Row("text, NUL", "PATCH", "{note}", {"archived": True, "text": "a\0"}, 422,
        {"slug": "invalid-field", "pointer": "/text"}),
    Row("text, 1 MiB and a byte", "PUT", "{note}", {"text": "a" * (MIB + 1)}, 422, {"pointer": "/text", "limit": MIB}),
    Row("a date beyond 9999", "PATCH", "{note}", {"archived": True, "sortDate": "10000-01-01T00:00:00Z"}, 422,
        {"slug": "invalid-field", "pointer": "/sortDate"}),
    Row("a huge number", "PATCH", "{note}", {"archived": True, "attributes": {"a": 2**53}}, 422,
        {"slug": "invalid-field", "pointer": "/attributes/a"}),
    Row("an attribute that is a list", "PATCH", "{note}", {"attributes": {"a": []}}, 422, {"pointer": "/attributes/a"}),
    Row("an attribute's name", "PATCH", "{note}", {"attributes": {"a/b": 1}}, 422, {"pointer": "/attributes/a~1b"}),
    Row("attributes, 65", "PATCH", "{note}", {"archived": True, "attributes": {f"a{index}": 1 for index in range(65)}},
        422, {"slug": "invalid-field", "limit": 64}),
    Row("tags, 1,001", "PATCH", "{note}", {"archived": True, "tags": [new_id() for _ in range(1_001)]}, 422,
        {"pointer": "/tags", "limit": 1_000}),
    Row("an invalid ID", "PUT", "{note}", {"archived": True, "uniqueID": "x"}, 422, {"pointer": "/uniqueID"}),
    Row("a tag's name, 257 bytes", "POST", "/v1/tags", {"name": "a" * 257}, 422, {"pointer": "/name", "limit": 256}),
    Row("a type that is not an app's", "POST", "/v1/objects", {"objectType": "note"}, 422, {"pointer": "/objectType"}),
    Row("no type", "POST", "/v1/objects", {"attributes": {"a": 1}}, 422,
        {"slug": "invalid-field", "pointer": "/objectType"}),
    Row("257 attributes", "POST", "/v1/objects",
        {"objectType": "a", "attributes": {f"a{index}": 1 for index in range(257)}}, 422,
        {"slug": "invalid-field", "limit": 256}),
    Row("a path that is not UTF-8", "GET", "/v1/notes/%ff", status=404, holds={"slug": "not-found"}),
    Row("NUL in a path", "GET", "/v1/notes/%00", status=404, holds={"slug": "not-found"}),
    Row("a path that climbs", "GET", "/v1/notes/..%2f..%2fetc%2fpasswd", status=404, holds={"slug": "not-found"}),
    Row("a query that is not UTF-8", "GET", "/v1/search?q=%ff", status=400, holds={"slug": "malformed-request"}),
    Row("a surrogate in a query", "GET", "/v1/search?q=%ed%a0%80", status=400, holds={"slug": "malformed-request"}),
    Row("NUL in a query", "GET", "/v1/search?q=nothing%00", holds={"results": []}),
    Row("a prefix that is not hexadecimal", "GET", "/v1/digests?prefix=xyz", status=422, holds={"pointer": "prefix"}),
    Row("a prefix longer than an ID", "GET", "/v1/digests?prefix=" + "0" * 33, status=422, holds={"pointer": "prefix"}),
    Row("a token of 7,000 letters", "GET", "/v1/changes?since=" + "A" * 7_000, status=422, holds={"pointer": "since"}),
    Row("an invalid cursor", "GET", "{note}/edits?cursor=%00", status=422, holds={"pointer": "cursor"}),
]  # fmt: skip


@pytest.fixture(scope="module")
def kept(somebody) -> str:
    return "/v1/notes/" + somebody.post("/v1/notes", {"text": "as it was"}).json()["uniqueID"]


@parametrize(PLAIN)
def test_plain(row, somebody, kept):
    before, digest = somebody.get(kept), somebody.get("/v1/digests").json()["digest"]
    row.run(somebody, {"note": kept})
    after = somebody.get(kept)
    assert (after.json(), after.headers["ETag"]) == (before.json(), before.headers["ETag"])
    assert somebody.get("/v1/digests").json()["digest"] == digest


def test_the_server_is_intact(server, client):
    """After all these requests the process still runs, has logged no errors, and `hesper check` finds none."""
    assert server.process.poll() is None
    assert not re.findall(r"^\S+ (?:error|critical)\b.*", server.log, re.MULTILINE)
    assert client.post("/v1/notes", {"text": "still here"}).status_code == 201
    checked = server.command("check")
    assert checked.returncode == 0, checked.stdout + checked.stderr
