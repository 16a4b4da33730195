"""The generated Python client signs up and syncs. Attributes are returned as sent."""

import importlib
import itertools
import sys
import uuid
from datetime import datetime, timezone
from types import SimpleNamespace

import pytest

import generators

PASSWORD = "correct horse battery staple"
TITLE = "Grüße, 世界 \U0001f30d"


@pytest.fixture(scope="module")
def api(output):
    """The newly generated package: models, and functions by operationId in snake case."""
    folder, _ = generators.openapi_python_client(output)
    sys.path.insert(0, str(folder))
    importlib.invalidate_caches()
    package = importlib.import_module(generators.PYTHON_CLIENT)
    models = importlib.import_module(f"{generators.PYTHON_CLIENT}.models")
    types = importlib.import_module(f"{generators.PYTHON_CLIENT}.types")

    def call(tag, name):
        return importlib.import_module(f"{generators.PYTHON_CLIENT}.api.{tag}.{name}").sync_detailed

    yield SimpleNamespace(package=package, models=models, UNSET=types.UNSET, call=call)
    sys.path.remove(str(folder))


class App:
    """A device that uses only generated code."""

    # Shared by all instances, so that later edits have greater clocks even within one millisecond.
    counter = itertools.count(1)

    def __init__(self, api, url, email, name, path="devices", function="sign_in", body="DeviceDraft"):
        self.api = api
        stranger = api.package.Client(base_url=url)
        request = getattr(api.models, body)(email=email, password=PASSWORD, device_name=name)
        answer = api.call(path, function)(client=stranger, body=request)
        assert answer.status_code == 201, answer.content
        assert isinstance(answer.parsed, api.models.SignedIn)
        self.signed_in = answer.parsed
        self.client = api.package.AuthenticatedClient(base_url=url, token=self.signed_in.token)
        self.token = api.UNSET

    @classmethod
    def signing_up(cls, api, url, email, name):
        return cls(api, url, email, name, "account", "sign_up", "AccountDraft")

    def clock(self):
        """A clock of this device: milliseconds, an increasing counter, its node (merge.md, Clocks)."""
        now, node = datetime.now(timezone.utc), self.signed_in.device.unique_id
        return f"{now:%Y-%m-%dT%H:%M:%S}.{now.microsecond // 1000:03d}Z-{next(self.counter):04x}-{node}"

    def sync(self, **changes):
        request = self.api.models.SyncRequest(sync_token=self.token, changes=self.api.models.Push(**changes))
        answer = self.api.call("sync", "sync")(client=self.client, body=request)
        assert answer.status_code == 200, answer.content
        assert isinstance(answer.parsed, self.api.models.SyncAnswer)
        self.token = answer.parsed.sync_token
        return answer.parsed


@pytest.fixture
def email():
    return f"{uuid.uuid4().hex}@example.org"


@pytest.fixture
def phone(api, server, email):
    return App.signing_up(api, server.url, email, "phone")


def attributes(api, **values):
    return api.models.Attributes.from_dict(values)


def new_note(api, app, text, **values):
    """A note with all fields of a first push."""
    models, now = api.models, datetime(2026, 11, 21, 8, 47, 12, 345_000, timezone.utc)
    names = models.ClockMap.from_dict({name: app.clock() for name in values})
    return models.NoteChange(
        unique_id=uuid.uuid4(), creation_date=now, text=text, sort_date=now, attributes=attributes(api, **values),
        clocks=models.NoteChangeClocks(text=app.clock(), sort_date=app.clock(), attributes=names),
    )  # fmt: skip


VALUES = {"pinned": True, "colour": TITLE, "rank": 9_007_199_254_740_991, "ratio": -0.25, "badge": None, "a.b-c_d": ""}


def test_attributes_reach_another_device_unchanged(api, server, email, phone):
    laptop = App(api, server.url, email, "laptop")
    assert laptop.sync().has_more is False

    note = new_note(api, phone, TITLE, **VALUES)
    answer = phone.sync(notes=[note])
    assert [(result.status, result.unique_id) for result in answer.results] == [("applied", str(note.unique_id))]

    [state] = laptop.sync().changes.notes
    assert state.unique_id == note.unique_id and state.text == TITLE
    assert state.creation_date == note.creation_date and state.sort_date == note.sort_date
    assert state.attributes.to_dict() == VALUES
    assert state.clocks.attributes.to_dict() == note.clocks.attributes.to_dict()

    # The laptop changes one attribute. The others remain.
    change = api.models.NoteChange(
        unique_id=note.unique_id, attributes=attributes(api, rank=1),
        clocks=api.models.NoteChangeClocks(attributes=api.models.ClockMap.from_dict({"rank": laptop.clock()})),
    )  # fmt: skip
    assert laptop.sync(notes=[change]).results[0].status == "applied"
    answer = phone.sync()
    assert answer.changes.notes[0].attributes.to_dict() == {**VALUES, "rank": 1}
    assert isinstance(answer.digest, str) and answer.digest == laptop.sync().digest


def test_app_defined_objects_reach_another_device(api, server, email, phone):
    laptop = App(api, server.url, email, "laptop")
    clocks = api.models.ClockMap.from_dict({"title": phone.clock(), "columns": phone.clock()})
    board = api.models.AppObjectChange(
        unique_id=uuid.uuid4(), object_type="board", attributes=attributes(api, title="Journey", columns=3),
        clocks=api.models.AppObjectChangeClocks(attributes=clocks),
    )  # fmt: skip
    assert phone.sync(objects=[board]).results[0].status == "applied"
    [state] = laptop.sync().changes.objects
    assert (state.object_type, state.attributes.to_dict()) == ("board", {"title": "Journey", "columns": 3})
    answer = api.call("objects", "get_object")(client=laptop.client, unique_id=board.unique_id)
    assert answer.parsed.attributes.to_dict() == {"title": "Journey", "columns": 3}


def test_errors_are_parsed_as_problems(api, server, phone):
    answer = api.call("notes", "get_note")(client=phone.client, unique_id=uuid.uuid4())
    assert isinstance(answer.parsed, api.models.Problem)
    assert (answer.parsed.status, answer.parsed.slug, answer.parsed.type_) == (404, "not-found", "/problems/not-found")
    assert answer.parsed.request_id == answer.headers["X-Request-ID"]

    note = new_note(api, phone, "Milk")
    note.clocks = api.UNSET
    [result] = phone.sync(notes=[note]).results
    assert result.status == "rejected"
    assert result.fields.to_dict()["text"]["problem"]["slug"] == "clock-missing"

    stranger = api.package.AuthenticatedClient(base_url=server.url, token="nobody's")
    answer = api.call("account", "get_account")(client=stranger)
    assert (answer.status_code, answer.parsed.slug) == (401, "unauthenticated")


def test_resource_routes_need_no_clocks(api, phone):
    tag = api.call("tags", "create_tag")(client=phone.client, body=api.models.TagDraft(name="Paris")).parsed
    request = api.models.NoteDraft(text="Milk\nBread", tags=[tag.unique_id], attributes=attributes(api, pinned=True))
    answer = api.call("notes", "create_note")(client=phone.client, body=request)
    assert (answer.status_code, answer.headers["Location"]) == (201, f"/v1/notes/{answer.parsed.unique_id}")
    patch = api.models.NotePatch(archived=True, attributes=attributes(api, colour=None))
    note = api.call("notes", "patch_note")(client=phone.client, unique_id=answer.parsed.unique_id, body=patch).parsed
    assert (note.text, note.archived, note.tags) == ("Milk\nBread", True, [tag.unique_id])
    assert note.attributes.to_dict() == {"pinned": True, "colour": None}
    found = api.call("search", "search")(client=phone.client, q="bread", archived=True, tag=tag.unique_id).parsed
    assert [result.note.unique_id for result in found.results] == [note.unique_id]
    snippet = found.results[0].snippet
    marked = [snippet.text[each.location : each.location + each.length] for each in snippet.ranges]
    assert marked == ["Bread"]
    deleted = api.call("notes", "delete_note")(client=phone.client, unique_id=note.unique_id).parsed
    assert isinstance(deleted, api.models.DeletedObject) and deleted.object_type == "note"
    answer = api.call("notes", "get_note")(client=phone.client, unique_id=note.unique_id)
    assert (answer.status_code, answer.parsed.deleted_object.unique_id) == (410, note.unique_id)
