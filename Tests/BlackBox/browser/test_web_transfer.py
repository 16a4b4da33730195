"""Export in the browser, also offline, and "Move in": imports on the server, with case 32 of merge.md."""

import base64
import io
import json
import re
import zipfile
from pathlib import Path

import pytest
from app import App
from attachments import some_bytes
from device import Device
from move_in import PICTURE, packed
from playwright.sync_api import Locator, Route, expect

pytestmark = pytest.mark.service_worker

FILES = {f"folder/note {number}.md": f"# Note {number}\n\nText of note {number}.\n" for number in range(12)}


def export(app: App) -> bytes:
    app.go("#/transfer")
    with app.page.expect_download() as download:
        app.button("Export everything").click()
    assert download.value.suggested_filename.endswith(".zip")
    return Path(download.value.path()).read_bytes()


def main(app: App) -> Locator:
    return app.page.get_by_role("main")


def choose(app: App, *files: tuple[str, bytes]) -> None:
    app.go("#/transfer")
    with app.page.expect_file_chooser() as chooser:
        app.button("Choose files").click()
    chooser.value.set_files([{"name": name, "mimeType": "application/octet-stream", "buffer": data} for name, data in files])


def import_file(app: App, data: bytes, name: str = "export.zip") -> str:
    """Chooses a file, starts the import, and waits for its end. Returns the report."""
    choose(app, (name, data))
    app.button("Import").click()
    report = main(app).get_by_role("status").filter(has_text=re.compile("notes:|Nothing to import"))
    expect(report).to_be_visible()
    return report.inner_text()


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
    """The export works offline, and the notes are the same in both accounts."""
    filled.wait_installed()
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
    for expected in ("New notes: 2.", "Unchanged notes: 2."):  # importing twice duplicates nothing
        assert expected in import_file(other, data)
        other.wait_synced()
        assert contents(other) == before
    fresh = new_app()
    fresh.sign_in(other.email)
    fresh.wait_synced()
    assert contents(fresh) == before


@pytest.mark.thorough
def test_importing_into_the_same_account_changes_nothing(filled: App):
    before = contents(filled)
    import_file(filled, export(filled))
    filled.wait_synced()
    assert contents(filled) == before
    assert len(filled.run("return copy.tags()")) == 1


def test_case_32_a_folder_imported_in_two_browsers(two_browsers: list[App]):
    """Each note exists once."""
    reports = [import_file(app, packed(FILES)) for app in two_browsers]
    assert ["New notes: 12" in report for report in reports] == [True, False]
    for app in two_browsers:
        app.wait_for("copy.notes().length === argument", len(FILES))
        app.wait_synced()
        found = contents(app)
        assert sorted(note[1] for note in found) == sorted(FILES.values())
        assert len(app.run("return copy.tags()")) == 0


def test_the_preview_and_what_is_skipped(signed_up: App):
    app = signed_up
    notes = [{"id": str(index), "content": f"Note {index}", "tags": ["a", "b"], "creationDate": "2019-05-06T07:08:09.000Z"} for index in range(3)]
    data = packed({"source/notes.json": json.dumps({"activeNotes": [*notes, {"id": "4"}], "trashedNotes": [{"id": "5"}]})})
    choose(app, ("notes.zip", data))
    place = main(app).get_by_role("status").first
    expect(place).to_contain_text("3 notes, 2 tags; 1 skipped")
    expect(place).to_contain_text("1 note in the trash of the other app will not be imported.")
    place.get_by_text("1 skipped", exact=True).click()
    expect(place.get_by_text("notes.json, note 4: It has no text.")).to_be_visible()
    assert contents(app) == []
    assert app.accessibility() == []
    # It remains after a reload, in every tab.
    app.reload()
    other = app.tab("#/transfer")
    for each in (app, other):
        expect(main(each)).to_contain_text("3 notes, 2 tags; 1 skipped")
    other.button("Import").click()
    for each in (app, other):
        expect(main(each)).to_contain_text("New notes: 3. New tags: 2.")
        expect(each.button("Choose files")).to_be_visible()
    app.wait_for("copy.notes().length === 3")


def test_cancelling(signed_up: App):
    app = signed_up
    choose(app, ("notes.zip", packed(FILES)))
    expect(app.button("Import")).to_be_visible()
    expect(app.page.get_by_text("Choose files")).to_be_hidden()
    app.button("Cancel").click()
    expect(app.page.get_by_text("Choose files")).to_be_visible()
    expect(app.button("Import")).to_have_count(0)
    assert "Unchanged" not in import_file(app, packed(FILES))


class Uploads:
    """Lets some requests of an upload through and fails the others, as if the connection were lost."""

    def __init__(self, app: App, folder: Path):
        self.app, self.path, self.left = app, folder / "Notes.zip", 0
        self.path.write_bytes(packed({"Notes/a.md": "# A", "Notes/film.bin": some_bytes(5_000_000)}))  # two parts

    def begin(self, requests: int) -> None:
        """Chooses the file. The connection is lost after this number of requests."""
        self.left = requests
        self.app.page.route(re.compile(r"/v1/imports/[^/]+/data"), self.answer)
        self.app.go("#/transfer")
        self.choose("Choose files")
        expect(main(self.app)).to_contain_text("No connection to the server.")

    def answer(self, route: Route) -> None:
        self.left -= 1
        route.continue_() if self.left >= 0 else route.abort()

    def choose(self, button: str, path: Path | None = None) -> None:
        with self.app.page.expect_file_chooser() as chooser:
            self.app.button(button).click()
        chooser.value.set_files(path or self.path)


def test_an_upload_continues_after_a_lost_connection_and_a_reload(signed_up: App, tmp_path: Path):
    app, uploads = signed_up, Uploads(signed_up, tmp_path)
    uploads.begin(requests=2)
    app.page.unroute_all()
    app.page.evaluate("() => dispatchEvent(new Event('online'))")
    expect(main(app)).to_contain_text("1 note")
    app.button("Cancel").click()
    # The file is stored in the browser.
    uploads.begin(requests=2)
    app.page.unroute_all()
    app.reload()
    expect(main(app)).to_contain_text("1 note")


@pytest.mark.thorough
def test_a_file_that_is_not_stored_is_chosen_again(signed_up: App, tmp_path: Path):
    app, uploads = signed_up, Uploads(signed_up, tmp_path)
    uploads.begin(requests=0)
    app.run("await copy.transaction(['meta'], 'readwrite', tx => tx.delete('meta', 'import'))")
    app.page.unroute_all()
    app.reload()
    expect(main(app)).to_contain_text("To continue, choose Notes.zip again.")
    (tmp_path / "other.zip").write_bytes(b"other")
    uploads.choose("Choose the file", tmp_path / "other.zip")
    expect(main(app)).to_contain_text("This is another file.")
    uploads.choose("Choose the file")
    expect(main(app)).to_contain_text("1 note")
    app.button("Import").click()
    expect(main(app)).to_contain_text("New notes: 1.")


def test_several_files_and_a_folder(signed_up: App, tmp_path: Path):
    app = signed_up
    choose(app, ("one.md", b"# One\n\nfirst"), ("two.txt", b"Two"))
    app.button("Import").click()
    expect(main(app)).to_contain_text("New notes: 2.")
    (tmp_path / "Trip/Rome").mkdir(parents=True)
    (tmp_path / "Trip/Rome/Plan.md").write_text("# Plan\n\n![](a.png)")
    (tmp_path / "Trip/Rome/a.png").write_bytes(PICTURE)
    with app.page.expect_file_chooser() as chooser:
        app.button("Choose a folder").click()
    chooser.value.set_files(tmp_path / "Trip")
    expect(main(app)).to_contain_text("1 note, 1 tag, 1 picture")
    app.button("Import").click()
    expect(main(app)).to_contain_text("New notes: 1. New tags: 1. New files: 1.")
    app.wait_for("copy.notes().length === 3")
    assert [note[5] for note in contents(app) if "Plan" in note[1]] == [["Rome"]]
    choose(app, ("a.zip", packed(FILES)), ("b.zip", packed(FILES)))
    expect(main(app)).to_contain_text("Import one archive at a time.")


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
    expect(main(app)).to_contain_text("2 notes")
    app.button("Import").click()
    app.wait_for("copy.notes().length === 2")
    assert sorted(note[1] for note in contents(app)) == ["# One\n\nfirst", "Two"]
    app.wait_synced()


UNREADABLE = [
    (b"not a zip", "cannot be imported"), (b"PK\x03\x04" + bytes(100), "is damaged"), (packed({}), "is an empty zip"),
    (packed({"hesper.json": "{"}), "does not have the format"), (packed(FILES)[:-40], "is damaged"),
]  # fmt: skip


def test_unreadable_files_are_reported_and_change_nothing(signed_up: App):
    app = signed_up
    for data, message in UNREADABLE:
        app.go("#/")  # which removes the message about the previous file
        expect(main(app)).not_to_contain_text(message)
        choose(app, ("export.zip", data))
        expect(main(app)).to_contain_text(message)
        assert contents(app) == []
    assert "New notes: 12." in import_file(app, packed(FILES))


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
    import_file(app, packed({f"{script}.md": script, "../../etc/passwd.md": "up", "hesper.json": content}))
    app.go("#/")
    import_file(app, packed({f"top/<svg onload=xss()>/{script}.md": script}), name=f"{script}.zip")
    app.go("#/")
    app.wait_for("copy.notes().length === 2")
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
