"""openapi.yaml is generated from the parts in contract/."""

import importlib.util
import shutil

import pytest

import contract_document as document_


def writer(folder):
    """The module `write.py` of a folder of parts."""
    spec = importlib.util.spec_from_file_location("contract_write", folder / "write.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture()
def parts(tmp_path):
    """A copy of the parts that a test can change."""
    return shutil.copytree(document_.ROOT / "contract", tmp_path / "contract")


def change(path, old, new):
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def test_the_contract_is_up_to_date():
    made = writer(document_.ROOT / "contract").text()
    assert document_.PATH.read_text(encoding="utf-8") == made, "run `make contract`; edit the parts, not the generated file"


def test_a_limit_is_defined_in_one_place(parts, contract):
    change(parts / "limits.yaml", "value: 1048576", "value: 2097152")
    made = writer(parts).Document().make()
    text = made["components"]["schemas"]["NoteDraft"]["properties"]["text"]
    assert text["maxLength"] == 2097152 and "at most 2 MiB" in text["description"]
    assert made["paths"]["/v1/server"] != contract["paths"]["/v1/server"]


def test_error_responses_are_derived_from_the_operation(parts):
    change(parts / "search.yaml", "    get:\n", "    post:\n")
    answers = writer(parts).Document().make()["paths"]["/v1/search"]["post"]["responses"]
    assert answers["403"] == {"$ref": "#/components/responses/CrossSite"} and "507" in answers and "413" not in answers


@pytest.mark.parametrize(
    "file, old, new",
    [
        ("notes.yaml", "parameters: [UniqueID]", "parameters: [NoSuchParameter]"),
        ("notes.yaml", "summary: Get a note", "sumary: Get a note"),
        ("notes.yaml", "example: $note\n", "example: $nosuch\n"),
        ("tags.yaml", "  tagState:", "  noteState:"),
        ("limits.yaml", "textAfter:\n", "textBytes:\n"),
        ("sync.yaml", "string:", "strng:"),
    ],
)
def test_a_mistake_in_a_part_is_an_error(parts, file, old, new):
    change(parts / file, old, new)
    with pytest.raises((SystemExit, KeyError)):
        writer(parts).text()
