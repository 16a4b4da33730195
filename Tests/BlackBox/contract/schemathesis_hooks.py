"""What schemathesis cannot know of the contract: the places where it says more in words than in schemas."""

import json
import os
import re

import jsonschema
import schemathesis
from schemathesis.core.failures import AcceptedNegativeData
from schemathesis.openapi.checks import EnsureResourceAvailability, JsonSchemaError, UseAfterFree

import contract_document

CONTRACT = contract_document.load()
# Where the body of a call holds elements that are refused one by one, and with what schema.
ELEMENTS = {
    "sync": {
        ("changes", "notes"): "NoteChange",
        ("changes", "tags"): "TagChange",
        ("changes", "attachments"): "AttachmentChange",
        ("changes", "objects"): "AppObjectChange",
        ("changes", "deletedObjects"): "DeletedObjectDraft",
    },
    "uploadDeletedObjects": {("deletedObjects",): "DeletedObjectDraft"},
}

# What is asked of a device by its ID.
OF_DEVICES = ("signOut", "revokeDevice", "getRevocation")


def fits(value, schema):
    whole = {"$ref": f"#/components/schemas/{schema}", "components": CONTRACT["components"]}
    checker = jsonschema.Draft202012Validator.FORMAT_CHECKER
    return jsonschema.Draft202012Validator(whole, format_checker=checker).is_valid(value)


def elements(body, operation_id):
    """(pointer, element, schema) for each."""
    for path, schema in ELEMENTS[operation_id].items():
        found = body
        for name in path:
            found = found.get(name, []) if isinstance(found, dict) else []
        for index, element in enumerate(found if isinstance(found, list) else []):
            yield "/".join(["", *path, str(index)]), element, schema


def refuses_each_element(body, answer, operation_id):
    """Whether every element that does not fit its schema has a result that says `rejected`, and there is one such."""
    status = {result["pointer"]: result["status"] for result in answer["results"]}
    wrong = [pointer for pointer, element, schema in elements(body, operation_id) if not fits(element, schema)]
    return bool(wrong) and all(status.get(pointer) == "rejected" for pointer in wrong)


def without_elements(body, operation_id):
    """The body with all elements taken out: what is still wrong then must refuse the whole."""
    if not isinstance(body, dict):
        return body
    copy = {**body}
    if operation_id == "sync" and isinstance(body.get("changes"), dict):
        copy["changes"] = {name: [] if isinstance(value, list) else value for name, value in body["changes"].items()}
    elif operation_id != "sync" and isinstance(body.get("deletedObjects"), list):
        copy["deletedObjects"] = []
    return copy


def is_stream_of_events(text):
    """Whether these are the events of the contract (`listenToEvents`), each with JSON on one line."""
    lines = [line for line in text.splitlines() if line and not line.startswith(":")]
    known = re.compile(r"(event: (changes|ephemeral|listeners|expired)|data: (?P<data>.*)|id: [\w-]+|retry: \d+)")
    found = [known.fullmatch(line) for line in lines]
    data = [match["data"] for match in found if match and match["data"] is not None]
    return all(found) and bool(data) and all(isinstance(json.loads(each), dict) for each in data)


@schemathesis.hook
def filter_failure(context, failure, case, response):
    """Drops what is no failure by the words of the contract; True keeps it."""
    operation_id = case.operation.definition.raw.get("operationId")
    if isinstance(failure, AcceptedNegativeData) and operation_id in ELEMENTS and response.status_code == 200:
        # "Whatever is wrong inside one element is refused there; the answer is still 200 and the rest stands."
        schema = {"sync": "SyncRequest", "uploadDeletedObjects": "DeletedObjectsUpload"}[operation_id]
        top_fits = fits(without_elements(case.body, operation_id), schema)
        return not (top_fits and refuses_each_element(case.body, response.json(), operation_id))
    if isinstance(failure, JsonSchemaError) and operation_id == "listenToEvents" and response.status_code == 200:
        # A stream is a text in the contract, as generators know nothing else; schemathesis takes each event for one.
        return not is_stream_of_events(response.text)
    if isinstance(failure, UseAfterFree) and operation_id == "listEdits":
        # "Every edit in the bag, also of a note that is recently deleted."
        return False
    if isinstance(failure, EnsureResourceAvailability) and operation_id in OF_DEVICES:
        # It was signed in with the address and password of an example: to the account that asks, another's is not there.
        return False
    return True


@schemathesis.hook
def before_call(context, case, kwargs):
    """Leaves the device signed in that this run speaks for: every later call would be a 401 that proves nothing. Changes
    what this client cannot read."""
    own = os.environ["HESPER_DEVICE"]
    if case.operation.definition.raw.get("operationId") in ("signOut", "revokeDevice"):
        if str(case.path_parameters.get("uniqueID", "")).lower() == own:
            case.path_parameters["uniqueID"] = "0" * 16
    if case.operation.definition.raw.get("operationId") == "listenToEvents":
        # The stream has no end of its own.
        case.query = {"closeAfter": "changes", **(case.query or {})}
    if case.operation.definition.raw.get("operationId") == "putAttachmentData" and case.headers:
        # Python's http.client takes an interim answer for the answer; uploads that break off are tested on the wire.
        case.headers.pop("Upload-Complete", None)


@schemathesis.serializer("application/partial-upload")
def partial_upload(context, value):
    return value if isinstance(value, bytes) else str(value).encode()
