"""Every body has an example. The examples fit their schemas, are consistent with each other, and follow the rules."""

import hashlib
import json
import re
from functools import reduce

import pytest
from jsonschema import Draft202012Validator

import contract_document as document_

UUID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
DATE = re.compile(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$")


def closed(document):
    """The component schemas with all objects closed, so that misspelt fields in examples are detected."""
    copy = json.loads(json.dumps(document["components"]["schemas"]))
    for _, node in document_.nodes(copy):
        if node.get("type") == "object" and "properties" in node:
            node["additionalProperties"] = False
    return copy


def validator(document, schema):
    whole = {**schema, "components": {"schemas": closed(document)}}
    return Draft202012Validator(whole, format_checker=Draft202012Validator.FORMAT_CHECKER)


def all_examples(document):
    for where, _, entry, _ in document_.bodies(document):
        for example in document_.examples(entry):
            yield where, example


def strings(node, pointer=""):
    """Yields (pointer, string) for every string and key in an example."""
    if isinstance(node, str):
        yield pointer, node
    elif isinstance(node, dict):
        for key, value in node.items():
            yield f"{pointer}/{key}", key
            yield from strings(value, f"{pointer}/{key}")
    elif isinstance(node, list):
        for index, value in enumerate(node):
            yield from strings(value, f"{pointer}/{index}")


def example_of(document, operation_id, status="200"):
    answer = document_.operations_by_id(document)[operation_id][2]["responses"][status]
    return answer["content"]["application/json"]["example"]


def test_every_body_has_a_valid_example(contract):
    for where, media, entry, _ in document_.bodies(contract):
        found = list(document_.examples(entry))
        if entry["schema"].get("format") == "binary":
            assert not found, f"{where}: binary bodies need no example"
            continue
        assert found, f"{where} has no example"
        for example in found:
            errors = [f"{where}: {error.json_path} {error.message}" for error in
                      validator(contract, entry["schema"]).iter_errors(example)]  # fmt: skip
            assert errors == []


def test_every_parameter_and_header_has_a_valid_example(contract):
    components = contract["components"]
    inline = [each for _, _, _, parameters in document_.operations(contract) for each in parameters]
    for node in [*components["headers"].values(), *inline]:
        example = node["example"]
        assert validator(contract, node["schema"]).is_valid(example), example


def test_the_validator_is_strict(contract):
    deleted = {"uniqueID": "e4da3b7f-bbce-4345-9777-2b0674a318d5", "objectType": "note", "deletionDate": "yesterday"}
    reference = {"$ref": "#/components/schemas/DeletedObject"}
    assert not validator(contract, reference).is_valid(deleted)
    deleted["deletionDate"] = "2026-11-21T08:47:12.990Z"
    assert validator(contract, reference).is_valid(deleted)
    assert not validator(contract, reference).is_valid({**deleted, "typo": True})


def test_ids_dates_and_clocks_have_the_servers_format(contract):
    for where, example in all_examples(contract):
        for pointer, text in strings(example):
            for match in UUID.finditer(text):
                assert match.group() == match.group().lower(), f"{where} {pointer}"
            name = pointer.rpartition("/")[2]
            if (name.endswith("Date") or name == "pushedAt") and "/clocks/" not in pointer:
                assert text == name or DATE.match(text), f"{where} {pointer}"
            if re.match(r"^\d{4}-\d\d-\d\dT", text) and not DATE.match(text):
                assert document_.CLOCK.match(text), f"{where} {pointer}"


def test_every_clock_belongs_to_a_device_of_the_examples(contract):
    devices = {device["uniqueID"] for device in example_of(contract, "listDevices")["devices"]}
    server = example_of(contract, "getServer")["serverClock"][-16:]
    assert server not in devices
    for where, example in all_examples(contract):
        for pointer, text in strings(example):
            if document_.CLOCK.match(text):
                assert text[-16:] in devices | {server}, f"{where} {pointer}"


def registers(state):
    """Yields (attribute, clock) for all registers of a state."""
    for name, clock in state.get("clocks", {}).items():
        if isinstance(clock, dict):
            yield from ((f"{name}.{member}", each) for member, each in clock.items())
        else:
            yield name, clock


def digest(kind, state):
    """The digest of an object (merge.md, The digest)."""
    if kind == "deleted":
        lines = ["deleted", state["uniqueID"]] + ([state["mergedInto"]] if "mergedInto" in state else [])
    else:
        lines = [kind, state["uniqueID"], *(f"{name}={clock}" for name, clock in sorted(registers(state)))]
        lines += [f"creationDate={state['creationDate']}"] if kind == "note" else []
        lines += [f"sha256={state['sha256']}"] if kind == "attachment" else []
    return hashlib.sha256("".join(line + "\n" for line in lines).encode()).hexdigest()[:32]


def xor(digests):
    """The XOR of digests, which is the digest of all their objects."""
    return f"{reduce(lambda left, right: left ^ right, (int(each, 16) for each in digests), 0):032x}"


def test_digests_match_the_objects_of_the_example(contract):
    page = example_of(contract, "listChanges")
    changes = page["changes"]
    kinds = {"notes": "note", "tags": "tag", "attachments": "attachment", "deletedObjects": "deleted"}
    digests = {
        state["uniqueID"]: digest(kinds.get(name, state.get("objectType")), state)
        for name, states in changes.items()
        for state in states
    }
    assert page["digest"] == xor(digests.values())
    assert example_of(contract, "sync")["digest"] == page["digest"]
    answer = example_of(contract, "getDigests")
    for item in answer["items"]:
        assert item["digest"] == digests[item["uniqueID"]]
    for each in [answer, *answer["children"]]:
        under = [value for name, value in digests.items() if name.replace("-", "").startswith(each["prefix"])]
        assert (each["objects"], each["digest"]) == (len(under), xor(under))
    assert answer["objects"] == sum(child["objects"] for child in answer["children"])


def test_states_agree_with_their_clocks(contract):
    for where, example in all_examples(contract):
        for _, state in document_.nodes({"": example}):
            if "clocks" in state:
                for members in {"tags", "attachments", "attributes"} & set(state):
                    assert set(state[members]) <= set(state["clocks"].get(members, {})), f"{where} {members}"
                # An unset field has its default and no clock.
                defaults = {"text": "", "archived": False, "sortDate": state.get("creationDate")}
                for name in {"text", "name", "archived", "sortDate"} & set(state):
                    assert name in state["clocks"] or state[name] == defaults[name], f"{where} {name}"


def test_results_match_the_push_of_the_example(contract):
    operation = document_.operations_by_id(contract)["sync"][2]
    push = operation["requestBody"]["content"]["application/json"]["examples"]["changes"]["value"]
    answer = example_of(contract, "sync")
    sent = push["changes"].items()
    pointers = [f"/changes/{name}/{index}" for name, elements in sent for index in range(len(elements))]
    assert sorted(result["pointer"] for result in answer["results"]) == sorted(pointers)
    for result in answer["results"]:
        _, _, name, index = result["pointer"].split("/")
        assert result["uniqueID"] == push["changes"][name][int(index)]["uniqueID"]
        if result["status"] == "merged":
            state = next(each for each in answer["changes"][name] if each["uniqueID"] == result["uniqueID"])
            for field, outcome in result["fields"].items():
                assert outcome["clock"] == dict(registers(state))[field]
                # The server's merge has a greater clock than all texts that it merged (merge.md, Text).
                assert outcome["clock"] > push["changes"][name][int(index)]["clocks"][field]
    assert answer["syncToken"] != push["syncToken"]


def test_edits_are_newest_first_with_the_current_values_marked(contract):
    edits = example_of(contract, "listEdits")["edits"]
    note = example_of(contract, "listChanges")["changes"]["notes"][0]
    assert [edit["clock"] for edit in edits] == sorted((edit["clock"] for edit in edits), reverse=True)
    for edit in edits:
        assert edit["standing"] == (dict(registers(note))[edit["attribute"]] == edit["clock"])
        assert edit["device"]["uniqueID"] == edit["clock"][-16:]


def test_snippets_mark_the_words_of_the_query(contract):
    operation = document_.operations_by_id(contract)["search"][2]
    words = operation["parameters"][0]["example"].split()
    snippet = example_of(contract, "search")["results"][0]["snippet"]
    units = snippet["text"].encode("utf-16-le")
    ends = [(2 * each["location"], 2 * (each["location"] + each["length"])) for each in snippet["ranges"]]
    found = [units[start:end].decode("utf-16-le") for start, end in ends]
    assert [each.lower() for each in found] == words


@pytest.mark.parametrize("operation_id", ["signUp", "signIn"])
def test_examples_use_the_same_device_and_account(contract, operation_id):
    answer = example_of(contract, operation_id, "201")
    known = {device["uniqueID"]: device["name"] for device in example_of(contract, "listDevices")["devices"]}
    assert known[answer["device"]["uniqueID"]] == answer["device"]["name"]
    assert answer["device"]["current"]
    assert answer["account"]["uniqueID"] == example_of(contract, "getAccount")["uniqueID"]
