"""Export and import in the browser, also offline, with case 32 of merge.md."""

import base64
import io
import json
import zipfile
from pathlib import Path

import pytest
from app import App
from attachments import some_bytes
from device import Device
from playwright.sync_api import expect

pytestmark = pytest.mark.service_worker

FILES = {f"folder/note {number}.md": f"# Note {number}\n\nText of note {number}.\n" for number in range(12)}


def export(app: App) -> bytes:
    app.go("#/transfer")
    with app.page.expect_download() as download:
        app.button("Export everything").click()
    assert download.value.suggested_filename.endswith(".zip")
    return Path(download.value.path()).read_bytes()


def import_file(app: App, data: bytes, name: str = "export.zip") -> None:
    app.go("#/transfer")
    with app.page.expect_file_chooser() as chooser:
        app.button("Choose files").click()
    chooser.value.set_files({"name": name, "mimeType": "application/zip", "buffer": data})
    expect(app.page.get_by_role("main").get_by_role("progressbar")).to_have_count(0)


def zipped(files: dict[str, str | bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def contents(app: App) -> list:
    """The notes as the app shows them, without IDs that differ between accounts."""
    return app.run(
        """const found = []
        for (const id of copy.notes({archived: null})) {
          const {uniqueID, text, creationDate, sortDate, archived, tags, attachments, attributes} = copy.note(id)
          const files = []
          for (const one of attachments) {
            const {filename, mimeType, sha256} = copy.attachment(one)
            files.push([filename, mimeType, sha256])
          }
          found.push([uniqueID, text, creationDate, sortDate, archived, tags.map(tag => copy.tag(tag).name).sort(), files, attributes])
        }
        return found.sort()"""
    )


@pytest.fixture
def filled(signed_up: App) -> App:
    app = signed_up
    app.new_note("Plain\n\nwords").leave()
    app.new_note("Ünïcode: 漢字 🌅 / and : signs?").leave()
    app.add_tag("Garten & Küche")
    app.attach({"name": "plan.bin", "mimeType": "application/octet-stream", "buffer": some_bytes(40_000)})
    app.run("const [id] = copy.notes(); await copy.setArchived([id], true); await copy.setAttribute(id, 'pinned', true)")
    app.wait_synced()
    return app


def test_an_offline_export_is_imported_into_another_account(filled: App, new_app):
    """Both export and import work offline, and the notes are the same in both accounts."""
    filled.go_offline()
    before = contents(filled)
    data = export(filled)
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert archive.testzip() is None
        names = archive.namelist()
        assert "hesper.json" in names
        assert sum(name.endswith(".md") for name in names) == 2
        assert [archive.read(name) for name in names if name.endswith("plan.bin")] == [some_bytes(40_000)]
        assert json.loads(archive.read("hesper.json"))
    other = new_app()
    other.sign_up()
    other.wait_synced()
    other.go_offline()
    for _ in range(2):  # importing twice duplicates nothing
        import_file(other, data)
        assert contents(other) == before
    other.go_online()
    other.wait_synced()
    fresh = new_app()
    fresh.sign_in(other.email)
    fresh.wait_synced()
    assert contents(fresh) == before


def test_importing_into_the_same_account_changes_nothing(filled: App):
    before = contents(filled)
    import_file(filled, export(filled))
    filled.wait_synced()
    assert contents(filled) == before
    assert len(filled.run("return copy.tags()")) == 1


def test_case_32_a_folder_imported_in_two_browsers(two_browsers: list[App]):
    """Both import offline, and each note exists once."""
    for app in two_browsers:
        app.wait_synced()
        app.go_offline()
        import_file(app, zipped(FILES))
    for app in two_browsers:
        app.go_online()
        app.wait_synced()
    for app in two_browsers:
        app.wait_for("copy.notes().length === argument", len(FILES))
        app.wait_synced()
        found = contents(app)
        assert sorted(note[1] for note in found) == sorted(FILES.values())
        assert all(len(note[5]) <= 1 for note in found)
        assert len(app.run("return copy.tags()")) <= 1


def test_dropped_text_files_become_notes(signed_up: App):
    app = signed_up
    app.page.evaluate(
        """files => {
          const dataTransfer = new DataTransfer()
          for (const [name, text] of files) dataTransfer.items.add(new File([text], name, {type: "text/markdown"}))
          for (const kind of ["dragover", "drop"])
            document.querySelector("[role=region], section").dispatchEvent(new DragEvent(kind, {dataTransfer, bubbles: true, cancelable: true}))
        }""",
        [["one.md", "# One\n\nfirst"], ["two.txt", "Two"]],
    )
    app.wait_for("copy.notes().length === 2")
    assert sorted(note[1] for note in contents(app)) == ["# One\n\nfirst", "Two"]
    app.wait_synced()


@pytest.mark.parametrize(
    "data",
    [b"not a zip", b"PK\x03\x04" + bytes(100), zipped({"hesper.json": "{"}), zipped({"hesper.json": '{"notes": 7}'}), zipped({}),
     zipped(FILES)[:-40]],
    ids=["no zip", "only a header", "broken JSON", "wrong JSON", "empty", "truncated"],
)  # fmt: skip
def test_an_unreadable_file_is_reported_and_changes_nothing(signed_up: App, data):
    app = signed_up
    import_file(app, data)
    message = app.page.get_by_role("main").inner_text()
    assert len(message) > 100
    assert contents(app) == []
    app.wait_synced()


def test_scripts_in_imported_names_and_texts_never_run(new_app):
    app = new_app(visit=False)
    app.context.add_init_script("window.xss = () => { window.hasRun = true; console.error('a script ran') }")
    app.visit()
    app.sign_up()
    script = "<img src=x onerror=xss()>"
    note = {
        "uniqueID": "5f0c5a1e-6d0b-4c8e-9d3a-2b7f4e1c8a90", "creationDate": "2026-01-01T00:00:00.000Z", "text": script,
        "archived": False, "sortDate": script, "tags": [script], "attachments": [script], "attributes": {"__proto__": script, "pinned": script},
    }  # fmt: skip
    content = json.dumps({"notes": [note], "tags": [script, {"name": script}]})
    import_file(app, zipped({f"{script}.md": script, "../../etc/passwd.md": "up", "hesper.json": content}))
    app.page.wait_for_timeout(300)
    app.go("#/")
    import_file(app, zipped({f"<svg onload=xss()>/{script}.md": script}), name=f"{script}.zip")
    app.go("#/")
    app.page.wait_for_timeout(300)
    assert not app.page.evaluate("() => Boolean(window.hasRun)")
    assert app.page.locator("img[src='x']").count() == 0
    app.wait_synced()


def test_an_export_of_the_server_is_imported_into_the_browser(browser_and_device):
    """`GET /v1/export` and the browser write the same format."""
    app, other = browser_and_device
    tag = other.make_tag("both")
    other.make_note("From the server", tags=[tag], pinned=True)
    other.sync()
    app.expect_titles("From the server")
    app.wait_synced()
    before = contents(app)
    import_file(app, other.client.get("/v1/export").content)
    app.wait_synced()
    assert contents(app) == before
    data = base64.b64encode(export(app))
    assert len(data) > 100
    device = Device(other.client)
    device.sync()
    assert len(device.notes) == 1
