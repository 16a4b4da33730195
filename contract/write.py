#!/usr/bin/env python3
"""Writes `openapi.yaml` from the parts in this folder (`make contract`). README.md in this folder describes their format."""

import copy
import re
import sys
from pathlib import Path

import yaml

FOLDER = Path(__file__).resolve().parent
OUTPUT = FOLDER.parent / "openapi.yaml"
# One file for each tag, in the order of the document.
PARTS = (
    "server", "account", "devices", "tokens", "webhooks", "sync", "events", "notes", "tags", "attachments", "objects", "deleted-objects",
    "history", "search", "imports", "operators", "documents",
)  # fmt: skip
METHODS = ("get", "head", "post", "put", "patch", "delete")
WIDTH = 120


class Loader(yaml.SafeLoader):
    """Reads YAML with the rules of JSON: duplicate keys are errors, and dates are strings."""

    def construct_mapping(self, node, deep=False):
        keys = [self.construct_object(key) for key, _ in node.value]
        for key in keys:
            if keys.count(key) > 1:
                raise SystemExit(f"{node.start_mark.name}: duplicate key {key!r}, line {node.start_mark.line + 1}")
        return super().construct_mapping(node, deep)


Loader.add_constructor("tag:yaml.org,2002:timestamp", lambda loader, node: node.value)


def load(name):
    with open(FOLDER / f"{name}.yaml", encoding="utf-8") as file:
        return yaml.load(file, Loader)


# MARK: The document


class Document:
    def __init__(self):
        self.shared = load("shared")
        self.limits = load("limits")
        self.errors = load("errors")
        self.parts = [load(name) for name in PARTS]
        self.examples = {}
        for part in [self.shared, *self.parts]:
            for name, example in part.get("examples", {}).items():
                if name in self.examples:
                    raise SystemExit(f"two examples are called {name}")
                self.examples[name] = example

    def make(self):
        """Returns the document as Python values, in the order in which they are written."""
        head = self.worded(load("document"))
        tags = [part["tag"] for part in self.parts]
        paths = {path: self.path(path, item, part["tag"]["name"]) for part in self.parts
                 for path, item in part["paths"].items()}  # fmt: skip
        components = {
            "securitySchemes": self.worded(self.shared["securitySchemes"]),
            "parameters": {name: self.parameter(each) for name, each in self.shared["parameters"].items()},
            "headers": {name: self.header(each) for name, each in self.shared["headers"].items()},
            "responses": {name: self.error(each) for name, each in self.errors["responses"].items()},
            "schemas": {},
        }
        document = {**head, "tags": tags, "paths": paths, "components": components}
        made = {name: self.schema(name, each) for part in [*self.parts, self.errors]
                for name, each in part.get("schemas", {}).items()}  # fmt: skip
        # Schemas that requests use are closed. Maps, whose keys the app chooses, are neither closed nor open.
        requests = reached(made, [body for _, _, operation in operations(paths) for body in bodies(operation)])
        closed = {name for name in requests if "properties" in made[name]}
        maps = {name for name in made if "properties" not in made[name]}
        for group in (closed, maps, set(made) - closed - maps):
            for name in made:
                if name in group:
                    if group is closed:
                        made[name]["additionalProperties"] = False
                    components["schemas"][name] = in_order(made[name])
        self.comments = {
            next(name for name in made if name in closed): "Requests: closed. Unknown fields are refused by name.",
            next(name for name in made if name in maps): "In requests and responses: maps whose keys the app chooses.",
            next(name for name in made if name not in closed | maps):
                "Responses: open. Fields may be added; ignore those that you do not know.",
        }  # fmt: skip
        return document

    # MARK: Paths

    def path(self, path, item, tag):
        made = {}
        shared = item.get("parameters", [])
        if shared:
            made["parameters"] = [self.parameter_or_reference(each) for each in shared]
        for method, operation in item.items():
            if method != "parameters":
                made[method] = self.operation(path, method, operation, shared, tag)
        return made

    def operation(self, path, method, source, shared, tag):
        known = {"id", "summary", "description", "open", "parameters", "body", "responses", "errors"}
        if not set(source) <= known or method not in METHODS:
            raise SystemExit(f"{method} {path}: {sorted(set(source) - known)}")
        made = {"operationId": source["id"], "tags": [tag], "summary": source["summary"]}
        made["description"] = self.words(source["description"])
        if source.get("open"):
            made["security"] = []
        parameters = source.get("parameters", [])
        if parameters:
            made["parameters"] = [self.parameter_or_reference(each) for each in parameters]
        body = source.get("body")
        if body:
            made["requestBody"] = {"required": body.get("required", True), "description": self.words(body["description"])}
            made["requestBody"]["content"] = self.content(body)
        limited = [] if source.get("open") else ["RateLimit", "RateLimitPolicy"]
        responses = {str(status): self.response(each, limited) for status, each in source["responses"].items()}
        for status, name in self.errors_of(path, method, source, [*shared, *parameters]).items():
            responses[str(status)] = reference("responses", name)
        made["responses"] = dict(sorted(responses.items()))
        return made

    def errors_of(self, path, method, source, parameters):
        """Returns the error responses of an operation by status: those that the rules give, then those that it names."""
        reads, body = method in ("get", "head"), source.get("body")
        rules = self.errors["rules"]
        errors = dict(rules["all"])
        if path.startswith("/v1/"):
            errors |= rules["api"]
        if not source.get("open"):
            errors |= rules["signed-in"] | rules["signed-in reads" if reads else "signed-in writes"]
        if not reads:
            errors |= rules["writes"]
        if body:
            errors |= rules["body"]
            if body.get("required", True):
                errors |= rules["required body"]
        if "{" in path:
            errors |= rules["path parameter"]
        for name in parameters:
            if isinstance(name, str):
                errors |= rules.get(f"parameter {name}", {})
        errors |= source.get("errors", {})
        return {status: name for status, name in errors.items() if name}

    def response(self, source, headers):
        if isinstance(source, str):
            source = {"description": source}
        headers = [*source.get("headers", []), *headers]
        made = {"description": self.words(source["description"]), "headers": self.headers(headers)}
        content = self.content(source)
        if content:
            made["content"] = content
        return made

    def headers(self, names):
        """Adds the headers that every response has: the request's ID, and those for pages of other origins."""
        return {self.shared["headers"][name]["header"].removesuffix("!"): reference("headers", name)
                for name in ["RequestID", *names, "AllowOrigin", "ExposeHeaders"]}  # fmt: skip

    def content(self, source):
        if "json" in source:
            media, schema = "application/json", reference("schemas", source["json"])
        elif "media" in source:
            media, schema = source["media"], self.field(source["schema"])
        else:
            return None
        made = {"schema": schema}
        for key in ("example", "examples"):
            if key in source:
                made[key] = self.example(source[key])
        return {media: made}

    # MARK: Components

    def parameter_or_reference(self, source):
        return reference("parameters", source) if isinstance(source, str) else self.parameter(source)

    def parameter(self, source):
        source = dict(source)
        place = next(each for each in ("path", "query", "header") if each in source)
        name = source.pop(place)
        made = {"name": name.removesuffix("!"), "in": place}
        if name.endswith("!"):
            made["required"] = True
        return self.described(made, source)

    def header(self, source):
        source = dict(source)
        made = {"required": True} if source.pop("header").endswith("!") else {}
        return self.described(made, source)

    def described(self, made, source):
        """Returns a parameter or header. The description is moved out of the schema."""
        example = self.example(source.pop("example"))
        schema = self.field(source)
        made["description"] = schema.pop("description")
        if made.get("in") == "query" and schema["type"] == "array":
            made |= {"style": "form", "explode": False}
        return {**made, "schema": schema, "example": example}

    def error(self, source):
        made = {"description": self.words(source["description"]), "headers": self.headers(source.get("headers", []))}
        content = {"schema": reference("schemas", "Problem")}
        if "example" in source:
            content["example"] = self.problem(source["example"])
        elif "examples" in source:
            content["examples"] = {name: {"summary": each["summary"], "value": self.problem(each["value"])}
                                   for name, each in source["examples"].items()}  # fmt: skip
        else:
            return made
        return {**made, "content": {"application/problem+json": content}}

    def problem(self, source):
        source = self.example(source)
        slug = source.pop("slug")
        status, title = self.errors["problems"][slug]
        made = {"type": f"/problems/{slug}", "slug": slug, "title": title, "status": status,
                "detail": source.pop("detail"), "requestID": self.example("$requestID")}  # fmt: skip
        if isinstance(source.get("limit"), str):
            source["limit"] = self.limit(source["limit"])
        return made | source

    def schema(self, name, source):
        if "limits" in source:
            return self.limits_schema(source)
        if "fields" not in source:
            return self.field(source)
        own, common = source["fields"], {}
        for each in source.get("with", []):
            common |= self.shared["fields"][each]
        # The fields of the schema come first. A field that both have is the schema's, at the position of the common one.
        fields = {key: own[key] for key in own if key not in common} | common | own
        made = {"type": "object", "description": self.words(source["description"])}
        required = [field.removesuffix("!") for field in fields if field.endswith("!")]
        if required:
            made["required"] = required
        made["properties"] = {field.removesuffix("!"): self.field(each) for field, each in fields.items()}
        return made

    def limits_schema(self, source):
        published = {name: each for name, each in self.limits.items() if "published" in each}
        properties = {name: self.field({"count": each["published"]}) for name, each in published.items()}
        required = [name for name, each in published.items() if not each.get("optional")]
        return {"type": "object", "description": source["limits"], "required": required, "properties": properties}

    def field(self, source):
        """Returns a schema from the name of one, or from `type: description` with further keywords."""
        if isinstance(source, str):
            return reference("schemas", source)
        source = dict(source)
        made = {}
        kind = next((key for key in source if self.base(key) is not None), None)
        if kind is not None:
            made = copy.deepcopy(self.base(kind))
            description = source.pop(kind)
            if description is not None:
                made["description"] = self.words(description)
        for key, value in source.items():
            if key not in KEYWORDS:
                raise SystemExit(f"neither a type nor a keyword: {key}, of {source}")
            if key in ("maxLength", "maxItems", "default") and value in self.limits:
                value = self.limit(value)
            elif key == "additionalProperties" and not isinstance(value, bool):
                value = self.field(value)
            elif key == "example":
                value = self.example(value)
            elif key == "description":
                value = self.words(value)
            made[key] = value
        return in_order(made)

    def base(self, kind):
        if kind.startswith("list of "):
            items = kind.removeprefix("list of ")
            return {"type": "array", "items": self.base(items) or reference("schemas", items)}
        found = self.shared["types"].get(kind)
        return None if found is None else self.field(found)

    # MARK: Words, limits and examples

    def limit(self, name):
        return self.limits[name]["value"]

    def words(self, text):
        """Replaces names of limits such as `{pushObjects}` by their values: `2,000`, or `8 MiB` for a number of bytes."""
        return re.sub(r"\{(\w+)\}", lambda match: self.number(match.group(1)) or match.group(), text)

    def number(self, name):
        if name == "problems":
            return listed([f"`{slug}`" for slug in self.errors["problems"]])
        if name not in self.limits:
            return None
        value = self.limit(name)
        if name.endswith("Bytes"):
            for unit, size in (("MiB", 1 << 20), ("KiB", 1 << 10)):
                if value % size == 0 and value > 1024:
                    return f"{value // size} {unit}"
            return f"{value:,} bytes"
        return f"{value:,}"

    def worded(self, node):
        if isinstance(node, dict):
            return {key: self.worded(value) for key, value in node.items()}
        if isinstance(node, list):
            return [self.worded(each) for each in node]
        return self.words(node) if isinstance(node, str) else node

    def example(self, node):
        """Returns an example. `$name` is replaced by another example, and the key `$` by the fields of another one."""
        if isinstance(node, str) and node.startswith("$"):
            if node == "$limits":
                return {name: each["value"] for name, each in self.limits.items() if "published" in each}
            return self.example(self.examples[node[1:]])
        if isinstance(node, list):
            return [self.example(each) for each in node]
        if isinstance(node, dict):
            made = {}
            for key, value in node.items():
                if key == "$":
                    made |= self.example(self.examples[value])
                else:
                    made[key] = self.example(value)
            return made
        return node


def reference(kind, name):
    return {"$ref": f"#/components/{kind}/{name}"}


def listed(words):
    return f"{', '.join(words[:-1])} and {words[-1]}"


def operations(paths):
    for path, item in paths.items():
        for method in METHODS:
            if method in item:
                yield path, method, item[method]


def bodies(operation):
    for content in operation.get("requestBody", {}).get("content", {}).values():
        yield content["schema"]


def reached(schemas, waiting):
    """Returns the names of the schemas that these use, directly or indirectly."""
    found = set()
    while waiting:
        node = waiting.pop()
        if isinstance(node, dict) and "$ref" in node:
            name = node["$ref"].rpartition("/")[2]
            if name not in found:
                found.add(name)
                waiting.append(schemas[name])
        elif isinstance(node, (dict, list)):
            waiting.extend(node.values() if isinstance(node, dict) else node)
    return found


KEYWORDS = (
    "type", "format", "minLength", "maxLength", "pattern", "minimum", "maximum", "maxItems", "enum", "default",
    "additionalProperties", "description", "items", "required", "properties", "example",
)  # fmt: skip


def in_order(schema):
    """Returns a schema with its keywords in a fixed order."""
    if "$ref" in schema:
        return schema
    return {key: schema[key] for key in KEYWORDS if key in schema}


def check_references(node, document):
    if isinstance(node, dict):
        if "$ref" in node:
            _, _, kind, name = node["$ref"].split("/")
            if name not in document["components"][kind]:
                raise SystemExit(f"nothing in {kind} is called {name}")
        node = list(node.values())
    for each in node if isinstance(node, list) else []:
        check_references(each, document)


# MARK: YAML


def quoted(text):
    if '"' in text and not re.search(r"['\\\n\t]", text):
        return f"'{text}'"
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t")
    return f'"{escaped}"'


def scalar(value, flow=False):
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if not isinstance(value, str):
        return str(value)
    special = "[]{},&*#?|<>=!%@`'\"\\-:~" if flow else "[]{}&*#?|<>=!%@`'\"-:~,"
    plain = value and value[0] not in special and value == value.strip() and "\n" not in value and "\t" not in value
    if not plain or ": " in value or " #" in value or value.endswith(":") or (flow and re.search(r"[,\[\]{}]", value)):
        return quoted(value)
    # Text that YAML would read as another type is quoted.
    return value if yaml.safe_load(value) == value else quoted(value)


def text_lines(text, indent):
    """Formats a long text as a YAML block. Texts with short or indented lines keep their lines; others are wrapped."""
    room = WIDTH - len(indent)
    lines = text.split("\n")
    if len(lines) > 1 and (all(len(line) <= WIDTH for line in lines) or any(line[:1] == " " for line in lines)):
        ends = text.endswith("\n")
        return "|" if ends else "|-", lines[:-1] if ends else lines
    filled = []
    for number, line in enumerate(lines):
        if number:
            filled.append("")
        current = ""
        for word in line.split(" "):
            if current and len(current) + 1 + len(word) > room:
                filled.append(current)
                current = word
            else:
                current = f"{current} {word}" if current else word
        if current:
            filled.append(current)
    return ">-", filled


def write(node, indent, out, comments):
    for key, value in node.items():
        name = scalar(key)
        start = f"{indent}{name}:"
        is_schema = indent == "    " and isinstance(value, dict) and "description" in value and "type" in value
        if is_schema and key in comments:
            out.extend(["", f"    # {comments[key]}"])
        if (indent == "" or start.startswith("  /") or is_schema) and not out[-1].endswith(("paths:", "schemas:")):
            out.append("")
        write_value(start, value, indent, out, comments)


def write_value(start, value, indent, out, comments):
    inner = indent + "  "
    if isinstance(value, dict):
        if set(value) == {"$ref"}:
            out.append(f"{start} {{ $ref: {quoted(value['$ref'])} }}")
        elif not value:
            out.append(f"{start} {{}}")
        else:
            out.append(start)
            write(value, inner, out, comments)
    elif isinstance(value, list):
        flow = f"{start} [{', '.join(scalar(each, flow=True) for each in value)}]" if not any(
            isinstance(each, (dict, list)) for each in value
        ) else ""  # fmt: skip
        if flow and len(flow) <= WIDTH:
            out.append(flow)
            return
        out.append(start)
        for each in value:
            block = []
            if isinstance(each, dict) and set(each) != {"$ref"}:
                write(each, inner + "  ", block, {})
                block[0] = f"{inner}- {block[0].strip()}"
            else:
                write_value(f"{inner}-", each, inner, block, {})
            out.extend(block)
    elif isinstance(value, str) and (len(start) + 1 + len(scalar(value)) > WIDTH and " " in value or value.count("\n") > 3):
        style, lines = text_lines(value, inner)
        out.append(f"{start} {style}")
        out.extend(f"{inner}{line}".rstrip() for line in lines)
    else:
        out.append(f"{start} {scalar(value)}")


def text():
    """Returns the content of `openapi.yaml`."""
    source = Document()
    document = source.make()
    check_references(document, document)
    out = ["# Written by contract/write.py from the parts in contract/. Change the parts, then run `make contract`."]
    write(document, "", out, source.comments)
    written = "\n".join(out) + "\n"
    if yaml.load(written, Loader) != document:
        raise SystemExit("the written YAML does not parse to the same document")
    return written


if __name__ == "__main__":
    if sys.argv[1:] == ["--check"]:
        sys.exit(OUTPUT.read_text(encoding="utf-8") != text())
    OUTPUT.write_text(text(), encoding="utf-8")
