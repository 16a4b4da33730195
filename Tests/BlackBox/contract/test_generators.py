"""Client generators accept the contract and generate all schemas and operations."""

import re
import shutil

import contract_document as document_
import generators
import pytest

pytestmark = [pytest.mark.long, pytest.mark.thorough]

# Patterns of a generated property by target, to detect missing properties. Reserved words are escaped.
PROPERTY = {
    "swift6": r"public var _?{}: ",
    "kotlin": r"val `?{}`?: ",
    "typescript-fetch": r"^    {}\??: ",
    "go": r'`json:"{}[,"]',
}
ATTRIBUTES = {
    "swift6": r"attributes: \[String: JSONValue\]",
    "kotlin": r"attributes: kotlin\.collections\.Map<kotlin\.String, kotlin\.Any>",
    "typescript-fetch": r"attributes\??: \{ \[key: string\]: any; \}",
    "go": r"Attributes map\[string\]interface\{\} `json",
}
ANY = {
    "swift6": r"value: JSONValue\?",
    "kotlin": r"value`: kotlin\.Any\?",
    "typescript-fetch": r"value\?: any",
    "go": r"Value interface\{\} `json",
}
OPEN_STRING = {
    "swift6": r"status: String$",
    "kotlin": r"status: kotlin\.String,?$",
    "typescript-fetch": r"status: string;$",
    "go": r'Status string `json:"status"`$',
}


@pytest.fixture(scope="module", params=sorted(generators.TARGETS))
def generated(request, output):
    """(target, folder of the generated client)."""
    return request.param, generators.openapi_generator(request.param, output)


def source(generated, name):
    target, folder = generated
    return generators.model(target, folder, name).read_text(encoding="utf-8")


def objects(contract):
    """The schemas with fields."""
    return {name: schema for name, schema in contract["components"]["schemas"].items() if "properties" in schema}


def test_every_schema_becomes_a_type_with_all_its_fields(contract, generated):
    assert len(objects(contract)) > 50
    for name, schema in objects(contract).items():
        text = source(generated, name)
        for field in schema["properties"]:
            assert re.search(PROPERTY[generated[0]].format(field), text, re.MULTILINE), f"{name}.{field} is missing"


def test_attributes_hold_any_value(contract, generated):
    for name in ("Note", "NoteState", "NoteChange", "NoteDraft", "NotePatch", "Tag", "AppObject", "AppObjectState"):
        assert re.search(ATTRIBUTES[generated[0]], source(generated, name)), name
    assert re.search(ANY[generated[0]], source(generated, "Edit"))


def test_extensible_values_are_strings(generated):
    text = source(generated, "PushResult")
    assert re.search(OPEN_STRING[generated[0]], text, re.MULTILINE)
    assert "enum Status" not in text


def test_every_operation_becomes_a_function(contract, generated):
    target, folder = generated
    text = "\n".join(
        path.read_text(encoding="utf-8")
        for path in folder.rglob("*")
        if path.suffix in (".swift", ".kt", ".ts", ".go") and "api" in str(path.relative_to(folder)).lower()
    )
    for operation_id in document_.operations_by_id(contract):
        # Exported names are capitalized in Go.
        name = operation_id[0].upper() + operation_id[1:] if target == "go" else operation_id
        assert re.search(rf"\b{name}\(", text), operation_id


def test_the_generator_reports_no_errors(output, generated):
    printed = (output / f"{generated[0]}.log").read_text(encoding="utf-8")
    assert not re.search(r"\bERROR\b|Exception", printed), printed
    # The value of an edit has no type on purpose, which the generator reports as a missing name.
    # The generator also mistakes the header Range for a type. The generated code calls it `range`.
    known = (
        "OpenAPI 3.1 support is still in beta", "Failed to get the schema name: null",
        "Range (reserved word) cannot be used as model name", "range (reserved word) cannot be used as parameter name",
    )  # fmt: skip
    warnings = [line for line in printed.splitlines() if "WARN" in line]
    assert [line for line in warnings if not any(each in line for each in known)] == []


def test_the_swift_client_compiles(output):
    if shutil.which("swiftc") is None:
        pytest.skip("swiftc is not installed")
    folder = output / "swift6"
    if not folder.exists():
        generators.openapi_generator("swift6", output)
    files = sorted(folder.glob("Sources/**/*.swift"))
    assert len(files) > 60
    generators.run("swiftc", "-typecheck", "-swift-version", "6", "-module-name", "OpenAPIClient", *files, timeout=300)


def test_the_go_client_compiles(output):
    if shutil.which("go") is None:
        pytest.skip("go is not installed")
    folder = output / "go"
    if not folder.exists():
        generators.openapi_generator("go", output)
    assert len(list(folder.glob("*.go"))) > 60
    # The client needs only the standard library, so nothing is downloaded.
    settings = {"GOFLAGS": "-mod=mod", "GOPROXY": "off", "GOTOOLCHAIN": "local", "GOCACHE": str(output / "go-cache")}
    generators.run("go", "vet", "./...", timeout=300, cwd=folder, env={**generators.environment(), **settings})


def test_the_python_client_is_generated_without_warnings(contract, output):
    folder, printed = generators.openapi_python_client(output)
    assert "Warning" not in printed and "WARNING" not in printed, printed
    names = {path.stem for path in folder.glob("hesper_client/models/*.py")}
    snake = {re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower() for name in contract["components"]["schemas"]}
    assert snake <= names
    functions = {path.stem for path in folder.glob("hesper_client/api/*/*.py")}
    assert {re.sub(r"(?=[A-Z])", "_", each).lower() for each in document_.operations_by_id(contract)} <= functions
