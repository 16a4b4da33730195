"""openapi.yaml is valid, complete, and restricted to what generators support (protocol.md, Written for generators)."""

import re

import pytest
import requests
from openapi_spec_validator import OpenAPIV31SpecValidator

import contract_document as document_

ROUTES = """
GET /v1/server getServer
POST /v1/accounts signUp
POST /v1/passwords resetPassword
POST /v1/password-resets requestPasswordReset
POST /v1/email-verifications verifyEmail
GET /v1/account getAccount
PATCH /v1/account updateAccount
DELETE /v1/account deleteAccount
POST /v1/account/email-verification requestEmailVerification
GET /v1/export exportAccount
GET /v1/devices listDevices
POST /v1/devices signIn
PATCH /v1/devices/{uniqueID} renameDevice
DELETE /v1/devices/{uniqueID} signOut
GET /v1/devices/{uniqueID}/revocation getRevocation
POST /v1/devices/{uniqueID}/revocation revokeDevice
GET /v1/imports listImports
POST /v1/imports createImport
GET /v1/imports/{uniqueID} getImport
DELETE /v1/imports/{uniqueID} deleteImport
HEAD /v1/imports/{uniqueID}/data headImportData
PATCH /v1/imports/{uniqueID}/data appendToImport
POST /v1/imports/{uniqueID}/start startImport
GET /v1/tokens listTokens
POST /v1/tokens createToken
DELETE /v1/tokens/{uniqueID} revokeToken
GET /v1/webhooks listWebhooks
POST /v1/webhooks createWebhook
GET /v1/webhooks/{uniqueID} getWebhook
PATCH /v1/webhooks/{uniqueID} patchWebhook
DELETE /v1/webhooks/{uniqueID} deleteWebhook
GET /v1/webhooks/{uniqueID}/deliveries listWebhookDeliveries
POST /v1/webhooks/{uniqueID}/test testWebhook
POST /v1/webhooks/{uniqueID}/replay replayWebhookDelivery
POST /v1/sync sync
GET /v1/changes listChanges
GET /v1/digests getDigests
GET /v1/events listenToEvents
POST /v1/ephemeral sendEphemeral
GET /v1/notes listNotes
POST /v1/notes createNote
GET /v1/notes/{uniqueID} getNote
PUT /v1/notes/{uniqueID} putNote
PATCH /v1/notes/{uniqueID} patchNote
DELETE /v1/notes/{uniqueID} deleteNote
POST /v1/notes/{uniqueID}/append appendToNote
POST /v1/notes/{uniqueID}/prepend prependToNote
GET /v1/notes/{uniqueID}/edits listEdits
GET /v1/objects/{uniqueID}/edits listObjectEdits
GET /v1/tags listTags
POST /v1/tags createTag
GET /v1/tags/{uniqueID} getTag
PUT /v1/tags/{uniqueID} putTag
PATCH /v1/tags/{uniqueID} patchTag
DELETE /v1/tags/{uniqueID} deleteTag
GET /v1/attachments listAttachments
GET /v1/attachments/{uniqueID} getAttachment
PUT /v1/attachments/{uniqueID} putAttachment
DELETE /v1/attachments/{uniqueID} deleteAttachment
GET /v1/attachments/{uniqueID}/data getAttachmentData
HEAD /v1/attachments/{uniqueID}/data headAttachmentData
PUT /v1/attachments/{uniqueID}/data putAttachmentData
HEAD /v1/uploads/{uniqueID} headUpload
PATCH /v1/uploads/{uniqueID} appendToUpload
DELETE /v1/uploads/{uniqueID} deleteUpload
GET /v1/objects listObjects
POST /v1/objects createObject
GET /v1/objects/{uniqueID} getObject
PUT /v1/objects/{uniqueID} putObject
PATCH /v1/objects/{uniqueID} patchObject
DELETE /v1/objects/{uniqueID} deleteObject
GET /v1/deleted-objects listDeletedObjects
POST /v1/deleted-objects uploadDeletedObjects
GET /v1/recently-deleted listRecentlyDeleted
GET /v1/search search
GET /healthz getHealth
GET /readyz getReadiness
GET /openapi.yaml getContract
GET /openapi.json getContractAsJson
GET /docs getDocs
GET /problems/{slug} getProblemPage
"""
OPEN = {
    "getServer", "signUp", "resetPassword", "requestPasswordReset", "verifyEmail", "signIn", "getHealth", "getReadiness",
    "getContract", "getContractAsJson", "getDocs", "getProblemPage",
}  # fmt: skip

# Keywords that OpenAPI 3.0 has as well, and that openapi-python-client and openapi-generator support. All others are
# refused, to exclude keywords that only 3.1 has (const, examples, $defs, type arrays…).
SCHEMA_KEYWORDS = {
    "$ref", "type", "format", "description", "properties", "required", "additionalProperties", "items", "pattern",
    "minLength", "maxLength", "maxItems", "minimum", "maximum", "default", "enum", "example",
}  # fmt: skip
TYPES = {"string", "integer", "number", "boolean", "array", "object"}
# Bodies that are only bytes.
BYTES = {"application/octet-stream", "application/partial-upload"}
# Maps with keys chosen by clients. They are used in requests and responses, so they are neither open nor closed.
MAPS = {"Attributes", "ClockMap", "Files", "Texts"}


def used(document, request):
    """The component schemas that request bodies use (`request`), or those that responses use."""
    names = set()
    for _, _, entry, is_request in document_.bodies(document):
        if is_request is request:
            names |= document_.reached(document, entry["schema"])
    return names


def test_the_document_is_valid(contract):
    assert contract["openapi"].startswith("3.1.")
    assert [str(error) for error in OpenAPIV31SpecValidator(contract).iter_errors()] == []


def test_routes_and_operation_ids(contract):
    found = {
        (method.upper(), path, operation["operationId"])
        for path, method, operation, _ in document_.operations(contract)
    }
    assert found == {tuple(line.split()) for line in ROUTES.strip().splitlines()}


def test_limits_of_the_server_are_in_the_contract(contract, server):
    schema = contract["components"]["schemas"]["Limits"]
    limits = requests.get(f"{server.url}/v1/server", timeout=10).json()["limits"]
    # Limits that an operator can disable, as the tests do.
    optional = {"quotaBytes", "requestsPerMinute"}
    assert set(limits) | optional == set(schema["properties"])
    assert set(schema["properties"]) - set(schema["required"]) == optional


def test_every_operation_is_described(contract):
    declared = {tag["name"] for tag in contract["tags"]}
    for path, method, operation, _ in document_.operations(contract):
        where = f"{method.upper()} {path}"
        assert re.fullmatch(r"[a-z]+([A-Z][a-z]+)*", operation["operationId"]), where
        assert operation.get("summary") and operation.get("description"), where
        assert len(operation["tags"]) == 1 and set(operation["tags"]) <= declared, where
    used_tags = {tag for _, _, operation, _ in document_.operations(contract) for tag in operation["tags"]}
    assert used_tags == declared


def test_operation_ids_are_unique(contract):
    ids = [operation["operationId"] for _, _, operation, _ in document_.operations(contract)]
    assert len(ids) == len(set(ids))


def test_everything_has_a_description(contract):
    missing = [
        pointer
        for pointer, schema in document_.schemas(contract)
        if not pointer.endswith("/schema") and not document_.resolve(contract, schema).get("description")
    ]
    for pointer, node in document_.nodes(contract):
        described = re.search(r"/(requestBody|parameters/[^/]+|(components/)?(headers|responses)/[^/]+)$", pointer)
        if described and not document_.resolve(contract, node).get("description"):
            missing.append(pointer)
    assert missing == []


def test_only_supported_keywords_are_used(contract):
    for pointer, schema in document_.schemas(contract):
        assert set(schema) <= SCHEMA_KEYWORDS, pointer
        if "$ref" not in schema and "type" in schema:
            assert isinstance(schema["type"], str) and schema["type"] in TYPES, pointer
        if schema.get("type") == "array":
            assert "items" in schema, pointer
        if schema.get("type") == "object":
            assert "properties" in schema or "additionalProperties" in schema, f"{pointer} becomes an empty struct"
        assert set(schema.get("required", [])) <= set(schema.get("properties", {})), pointer
    for field in ("webhooks", "jsonSchemaDialect"):
        assert field not in contract
    assert "summary" not in contract["info"] and "identifier" not in contract["info"]["license"]
    assert "pathItems" not in contract["components"]


def test_references_have_no_siblings(contract):
    for pointer, node in document_.nodes(contract):
        if "$ref" in node and not pointer.endswith("/properties"):
            assert set(node) == {"$ref"}, pointer
            document_.resolve(contract, node)


def test_only_values_of_edits_and_files_are_untyped(contract):
    untyped = [
        pointer for pointer, schema in document_.schemas(contract) if "$ref" not in schema and "type" not in schema
    ]
    assert sorted(untyped) == [
        "/components/schemas/Edit/properties/value", "/components/schemas/Files/additionalProperties"
    ]  # fmt: skip


def test_extensible_values_are_not_enums(contract):
    # A generated closed enum fails on unknown values. `sort`, `order`, the scopes of a new token and the events of a webhook are only
    # sent, never received.
    enums = [pointer for pointer, schema in document_.schemas(contract) if "enum" in schema]
    assert sorted(enums) == [
        "/components/schemas/TokenDraft/properties/scopes/items",
        "/components/schemas/WebhookDraft/properties/events/items", "/components/schemas/WebhookPatch/properties/events/items",
        "/paths//v1/notes/get/parameters/2/schema",
        "/paths//v1/notes/get/parameters/3/schema", "/paths//v1/search/get/parameters/3/schema",
    ]  # fmt: skip
    for name, field in (
        ("PushResult", "status"), ("PushResult", "objectType"), ("FieldResult", "outcome"), ("Problem", "slug"),
    ):  # fmt: skip
        schema = contract["components"]["schemas"][name]["properties"][field]
        assert schema["type"] == "string" and "Known today are" in schema["description"]


def test_attributes_are_open(contract):
    for name, schema in contract["components"]["schemas"].items():
        attributes = schema.get("properties", {}).get("attributes")
        if attributes and name not in ("Limits",) and "Clocks" not in name:
            assert attributes == {"$ref": "#/components/schemas/Attributes"}, name
    assert contract["components"]["schemas"]["Attributes"]["additionalProperties"] is True


def test_request_schemas_are_closed_and_response_schemas_open(contract):
    requests, answers = used(contract, request=True), used(contract, request=False)
    assert requests & answers == MAPS
    for name in requests - MAPS:
        assert contract["components"]["schemas"][name].get("additionalProperties") is False, name
    for name in answers - MAPS:
        assert "additionalProperties" not in contract["components"]["schemas"][name], name
    for pointer, schema in document_.schemas(contract):
        if schema.get("type") == "object":
            where = pointer.removeprefix("/components/schemas/")
            assert "/" not in where or "additionalProperties" in schema, f"{pointer} is an inline object and needs a name"


def test_every_body_has_one_media_type(contract):
    for _, _, operation, _ in document_.operations(contract):
        for each in [operation.get("requestBody", {"content": {"": ""}}), *operation["responses"].values()]:
            assert len(document_.resolve(contract, each).get("content", {"": ""})) == 1
    for where, media, _, is_request in document_.bodies(contract):
        allowed = {"application/json", *BYTES} if is_request else {
            "application/json", "application/problem+json", "application/yaml", "text/html", "application/octet-stream",
            "application/zip", "text/event-stream",
        }  # fmt: skip
        assert media in allowed, where


def test_all_components_are_used(contract):
    references = {node["$ref"] for _, node in document_.nodes(contract) if "$ref" in node}
    declared = {
        f"#/components/{kind}/{name}"
        for kind, entries in contract["components"].items()
        if kind != "securitySchemes"
        for name in entries
    }
    # No operation lists 405. All other methods of a path return it.
    assert declared - references == {"#/components/responses/MethodNotAllowed"}


def test_operations_require_authentication_except_open_ones(contract):
    assert contract["security"] == [{"bearer": []}]
    for _, _, operation, _ in document_.operations(contract):
        if operation["operationId"] in OPEN:
            assert operation["security"] == []
        else:
            assert "security" not in operation


def test_errors_are_listed(contract):
    for path, method, operation, parameters in document_.operations(contract):
        expected = {"400", "414", "422", "431", "500"}
        if operation["operationId"] not in OPEN or operation["operationId"] == "signIn":
            expected |= {"401", "429"}
        if path.startswith("/v1/"):
            expected |= {"503"}
        if method not in ("get", "head"):
            expected |= {"403"}
        if "requestBody" in operation:
            expected |= {"408", "413", "415"}
            if operation["requestBody"]["required"]:
                expected |= {"411"}
        for parameter in parameters:
            if parameter["in"] == "path":
                expected |= {"404"}
            # An event stream reports an expired token as an event.
            if parameter["name"] == "since" and operation["operationId"] != "listenToEvents":
                expected |= {"410"}
            if parameter["name"] == "If-Match":
                expected |= {"412"}
        assert expected <= set(operation["responses"]), f"{method.upper()} {path}"
        assert "default" not in operation["responses"], "an undocumented response must fail a test"


def test_the_server_serves_the_contract_as_json(contract, server):
    answer = requests.get(f"{server.url}/openapi.json", timeout=10)
    assert (answer.status_code, answer.headers["Content-Type"]) == (200, "application/json")
    assert answer.json() == contract


def test_no_schema_is_named_like_a_constructor(contract):
    # The Go generator makes a function `NewNote` for a type `Note`, which collides with a schema `NewNote`.
    names = set(contract["components"]["schemas"])
    assert not [name for name in names if f"New{name}" in names]


def test_example_limits_equal_those_of_the_server(contract, server):
    limits = requests.get(f"{server.url}/v1/server", timeout=10).json()["limits"]
    example = contract["paths"]["/v1/server"]["get"]["responses"]["200"]["content"]["application/json"]["example"]["limits"]
    # Limits that an operator can set, as the tests do.
    assert {name for name in limits if limits[name] != example[name]} <= {"attachmentBytes", "graceSeconds"}


def test_authenticated_responses_have_rate_limit_headers(contract):
    for path, method, operation, _ in document_.operations(contract):
        for status, answer in operation["responses"].items():
            if status.startswith("2"):
                has = {"RateLimit", "RateLimit-Policy"} <= set(answer["headers"])
                assert has == (operation["operationId"] not in OPEN), f"{method} {path} {status}"


def test_every_response_has_cors_headers(contract):
    for path, method, operation, _ in document_.operations(contract):
        for status, answer in operation["responses"].items():
            headers = document_.resolve(contract, answer)["headers"]
            assert {"Access-Control-Allow-Origin", "Access-Control-Expose-Headers"} <= set(headers), f"{path} {status}"


def test_every_response_has_a_request_id(contract):
    for path, method, operation, _ in document_.operations(contract):
        for status, answer in operation["responses"].items():
            headers = document_.resolve(contract, answer)["headers"]
            assert document_.resolve(contract, headers["X-Request-ID"])["required"], f"{method} {path} {status}"


@pytest.mark.parametrize(
    "status, header",
    [("304", "ETag"), ("401", "WWW-Authenticate"), ("429", "Retry-After"), ("503", "Retry-After")],
)
def test_headers_required_by_a_status(contract, status, header):
    for path, method, operation, _ in document_.operations(contract):
        if status in operation["responses"]:
            assert header in document_.resolve(contract, operation["responses"][status])["headers"], f"{method} {path}"


def test_errors_are_problems_with_their_status(contract):
    slugs = contract["components"]["schemas"]["Problem"]["properties"]["slug"]["description"]
    for path, method, operation, _ in document_.operations(contract):
        for status, answer in operation["responses"].items():
            if int(status) >= 400:
                answer = document_.resolve(contract, answer)
                entry = answer["content"]["application/problem+json"]
                assert entry["schema"] == {"$ref": "#/components/schemas/Problem"}
                for problem in document_.examples(entry):
                    assert problem["status"] == int(status), f"{method} {path} {status}"
    for name, answer in contract["components"]["responses"].items():
        for entry in answer.get("content", {}).values():
            for problem in document_.examples(entry):
                assert problem["type"] == f"/problems/{problem['slug']}", name
                assert f"`{problem['slug']}`" in slugs and f"`{problem['slug']}`" in answer["description"], name


def test_the_strict_loader_refuses_duplicates_dates_and_aliases(tmp_path, monkeypatch):
    for text in ("a: 1\na: 2\n", "a: 2026-11-21\n", "a: &x 1\nb: *x\n"):
        (tmp_path / "openapi.yaml").write_text(text)
        monkeypatch.setattr(document_, "PATH", tmp_path / "openapi.yaml")
        with pytest.raises(ValueError):
            document_.load()
