"""Loads openapi.yaml strictly, and iterates over its parts."""

import pickle
import re
from functools import cache
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[3]
PATH = ROOT / "openapi.yaml"
METHODS = ("get", "put", "post", "delete", "patch", "head", "options", "trace")
CLOCK = re.compile(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z-[0-9a-f]{4}-[0-9a-f]{16}$")


class StrictLoader(yaml.CSafeLoader):
    """YAML restricted to what JSON can express: no duplicate keys, no dates."""

    def construct_mapping(self, node, deep=False):
        seen = set()
        for key, _ in node.value:
            if key.value in seen:
                raise ValueError(f"{key.value!r} occurs twice, line {key.start_mark.line + 1}")
            seen.add(key.value)
        return super().construct_mapping(node, deep)


def _no_dates(loader, node):
    raise ValueError(f"{node.value} is parsed as a date; quote it, line {node.start_mark.line + 1}")


StrictLoader.add_constructor("tag:yaml.org,2002:timestamp", _no_dates)


def load():
    """The contract. Every call returns a new copy, which the caller may change."""
    return pickle.loads(parsed(PATH.read_text(encoding="utf-8")))


@cache
def parsed(text: str) -> bytes:
    """A pickled document, which is read in a tenth of the time that YAML takes."""
    for event in yaml.parse(text, yaml.CSafeLoader):
        if isinstance(event, yaml.events.AliasEvent):
            raise ValueError(f"aliases are not allowed, line {event.start_mark.line + 1}")
    return pickle.dumps(yaml.load(text, StrictLoader))


def resolve(document, node):
    """The node that `$ref` points to, or the node itself."""
    while isinstance(node, dict) and "$ref" in node:
        target = document
        for part in node["$ref"].removeprefix("#/").split("/"):
            target = target[part.replace("~1", "/").replace("~0", "~")]
        node = target
    return node


def operations(document):
    """Yields (path, method, operation, parameters). The parameters include those of the path."""
    for path, item in document["paths"].items():
        for method in METHODS:
            if method in item:
                operation = item[method]
                parameters = item.get("parameters", []) + operation.get("parameters", [])
                yield path, method, operation, [resolve(document, each) for each in parameters]


def operations_by_id(document):
    return {operation["operationId"]: (path, method, operation) for path, method, operation, _ in operations(document)}


def nodes(node, pointer=""):
    """Yields (pointer, mapping) for every mapping in the document outside examples."""
    if isinstance(node, dict):
        yield pointer, node
        for key, value in node.items():
            if key not in ("example", "examples") or pointer.endswith("/properties"):
                yield from nodes(value, f"{pointer}/{key}")
    elif isinstance(node, list):
        for index, value in enumerate(node):
            yield from nodes(value, f"{pointer}/{index}")


def schemas(document):
    """Yields (pointer, schema) for every schema in the document, including nested ones."""
    for pointer, node in nodes(document):
        if "schema" in node and not pointer.endswith("/properties"):
            yield from _inner(node["schema"], f"{pointer}/schema")
    for name, schema in document["components"]["schemas"].items():
        yield from _inner(schema, f"/components/schemas/{name}")


def _inner(schema, pointer):
    yield pointer, schema
    for name, inner in schema.get("properties", {}).items():
        yield from _inner(inner, f"{pointer}/properties/{name}")
    for key in ("items", "additionalProperties"):
        if isinstance(schema.get(key), dict):
            yield from _inner(schema[key], f"{pointer}/{key}")


def reached(document, schema):
    """The names of the component schemas that a schema refers to, directly or indirectly."""
    found, waiting = set(), [schema]
    while waiting:
        for _, inner in _inner(waiting.pop(), ""):
            name = inner.get("$ref", "").rpartition("/")[2]
            if name and name not in found:
                found.add(name)
                waiting.append(document["components"]["schemas"][name])
    return found


def bodies(document):
    """Yields (location, media type, entry, whether it is a request body) for every body. Shared responses occur once."""
    for path, method, operation, _ in operations(document):
        where = f"{method.upper()} {path}"
        for media, entry in operation.get("requestBody", {}).get("content", {}).items():
            yield f"{where} request", media, entry, True
        for status, answer in operation["responses"].items():
            if "$ref" not in answer:
                for media, entry in answer.get("content", {}).items():
                    yield f"{where} {status}", media, entry, False
    for name, answer in document["components"]["responses"].items():
        for media, entry in answer.get("content", {}).items():
            yield name, media, entry, False


def examples(entry):
    """Yields the example values of a body."""
    if "example" in entry:
        yield entry["example"]
    for each in entry.get("examples", {}).values():
        yield each["value"]
