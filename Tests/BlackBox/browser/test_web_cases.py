"""The cases of merge.md in the web app: A is a browser, B a client in Python. Tests have the numbers of the cases.

Most are in api/client_cases.py. Case 24 is in test_web_restored.py, case 32 in test_web_transfer.py.
"""

import pytest
from app import App
from attachments import some_bytes
from browser_device import CHANGE_RECORD, BrowserDevice
from client_cases import client_cases, thorough
from device import Device
from playwright.sync_api import expect

pytestmark = pytest.mark.long

# Other tests of the web app check the same: test_engine_texts.py (lost responses), test_web_refused.py, test_two_writers.
ALSO_ELSEWHERE = ("test_case_08", "test_case_19", "test_case_23", "test_case_25", "test_case_27", "test_case_29")
globals().update(
    {name: thorough(each) if name.startswith(ALSO_ELSEWHERE) else each for name, each in client_cases().items()}
)


@pytest.fixture
def pair_with(browser_device):
    return browser_device


@pytest.fixture
def pair(pair_with) -> list[BrowserDevice | Device]:
    return list(pair_with())


@pytest.mark.service_worker
def test_case_33_deleted_without_having_seen_the_latest_text(two_browsers: list[App]):
    """A deletes the note with an old version of its text. B had continued the text."""
    a, b = two_browsers
    a.new_note("Milk").leave()
    a.add_tag("kitchen")
    a.attach({"name": "list.bin", "mimeType": "application/octet-stream", "buffer": some_bytes(5_000)})
    a.wait_synced()
    b.wait_synced()
    a.go_offline()
    b.open("Milk")
    b.write()
    b.type(" and an hour of writing")
    b.leave()
    b.wait_synced()
    b.go("#/")
    old = a.note_id
    a.choose("Delete")
    a.expect_titles()
    a.page.evaluate(CHANGE_RECORD, ["deletions", old, {"heldUntil": 1}])
    a.reload() if a.run("return Boolean(navigator.serviceWorker?.controller)") else None
    a.go_online()
    for app in two_browsers:
        app.expect_titles("Milk and an hour of writing")
        app.wait_synced()
        note = app.run("const [id] = copy.notes(); return {...copy.note(id), names: copy.note(id).tags.map(tag => copy.tag(tag).name)}")
        assert note["uniqueID"] != old and note["names"] == ["kitchen"] and len(note["attachments"]) == 1
    notice = a.page.get_by_text("A note that you deleted was edited on another device")
    expect(notice).to_contain_text("Milk and an hour of writing")
    a.page.get_by_role("link", name="Open", exact=True).click()
    a.expect_text("Milk and an hour of writing")
    expect(notice).to_have_count(0)
    assert b.run("return copy.notices()") == []
