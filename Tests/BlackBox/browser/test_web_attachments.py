"""Attachments in the browser: pasting, dropping and choosing files, immediate display, and uploads that resume."""

import base64
import hashlib
import time
from pathlib import Path

import pytest
from app import App
from attachments import some_bytes
from client import Client
from playwright.sync_api import expect

pytestmark = pytest.mark.long

PICTURE = Path("/usr/share/desktop-base/emerald-theme/grub/grub-16x9.png")  # 1920 × 1080
PDF = b"%PDF-1.4\n" + some_bytes(30_000)


def picture(app: App, name: str):
    return app.page.get_by_role("button", name=f"Show {name}", exact=True)


def sha256_of(app: App) -> list[str]:
    """The hashes of the attachments stored in this browser."""
    return app.run(
        """const hex = bytes => [...new Uint8Array(bytes)].map(byte => byte.toString(16).padStart(2, "0")).join("")
        const found = []
        for (const note of copy.notes()) for (const id of copy.note(note).attachments) {
          const blob = await copy.bytes(id)
          if (blob) found.push(hex(await crypto.subtle.digest("SHA-256", await blob.arrayBuffer())))
        }
        return found"""
    )


def drop(app: App, data: bytes, filename: str, mime_type: str) -> None:
    app.page.get_by_role("article", name="Note").evaluate(
        """(element, [data, name, type]) => {
          const dataTransfer = new DataTransfer()
          dataTransfer.items.add(new File([Uint8Array.from(atob(data), letter => letter.charCodeAt(0))], name, {type}))
          for (const kind of ["dragenter", "dragover", "drop"])
            element.dispatchEvent(new DragEvent(kind, {dataTransfer, bubbles: true, cancelable: true}))
        }""",
        [base64.b64encode(data).decode(), filename, mime_type],
    )


def test_a_pasted_picture_is_shown_at_once_and_synced(two_browsers: list[App]):
    a, b = two_browsers
    data = PICTURE.read_bytes()
    b.wait_synced()
    a.go_offline()
    a.new_note("With a picture\n")
    a.paste(data, "wallpaper.png", "image/png")
    # Its size is read and it is shown without a network.
    expect(picture(a, "wallpaper.png")).to_be_visible()
    [attachment] = a.run("return copy.note(argument).attachments.map(id => copy.attachment(id))", a.note_id)
    assert (attachment["width"], attachment["height"], attachment["mimeType"]) == (1920, 1080, "image/png")
    assert attachment["byteCount"] == len(data) and attachment["isUnsent"]
    assert 100 < len(attachment["preview"]) < 8192
    a.page.wait_for_function("() => [...document.querySelectorAll('article img')].some(image => image.naturalWidth === 1920)")
    a.go_online()
    a.wait_synced()
    b.open("With a picture")
    expect(picture(b, "wallpaper.png")).to_be_visible()
    b.page.wait_for_function("() => [...document.querySelectorAll('article img')].some(image => image.naturalWidth === 1920)")
    assert sha256_of(b) == [hashlib.sha256(data).hexdigest()]
    b.wait_synced()
    # The list shows a small preview.
    expect(b.row("With a picture").locator("img")).to_be_visible()


def test_other_files_can_be_downloaded(two_browsers: list[App]):
    a, b = two_browsers
    a.new_note("With files\n")
    a.wait_saved()
    a.attach({"name": "plan.pdf", "mimeType": "application/pdf", "buffer": PDF})
    drop(a, b"words", "list.txt", "text/plain")
    a.wait_synced()
    b.open("With files")
    for name, data in (("plan.pdf", PDF), ("list.txt", b"words")):
        with b.page.expect_download() as download:
            b.page.get_by_role("button", name=name).first.click()
        assert download.value.suggested_filename == name
        assert download.value.path().read_bytes() == data


def test_a_broken_picture_is_kept(signed_up: App):
    app = signed_up
    app.new_note("Broken\n")
    app.paste(b"not a picture at all", "broken.png", "image/png")
    app.wait_for("copy.note(copy.notes()[0])?.attachments.length === 1")
    app.wait_synced()
    assert sha256_of(app) == [hashlib.sha256(b"not a picture at all").hexdigest()]


def test_the_same_file_twice_is_attached_once(signed_up: App):
    app = signed_up
    app.new_note("Twice\n")
    for _ in range(2):
        app.paste(PICTURE.read_bytes(), "same.png", "image/png")
    app.wait_for("copy.note(copy.notes()[0])?.attachments.length === 1")
    app.wait_synced()
    expect(picture(app, "same.png")).to_have_count(1)


def test_keys_in_the_full_view(signed_up: App):
    app = signed_up
    app.new_note("Two pictures\n")
    app.paste(PICTURE.read_bytes(), "one.png", "image/png")
    app.paste((PICTURE.parent / "grub-4x3.png").read_bytes(), "two.png", "image/png")
    picture(app, "one.png").click()
    expect(app.dialog.get_by_role("img", name="one.png")).to_be_visible()
    app.page.wait_for_function("() => document.querySelector('dialog img').naturalWidth === 1920")
    expect(app.dialog.get_by_text("1920 × 1080", exact=False)).to_be_visible()
    app.page.keyboard.press("ArrowRight")
    expect(app.dialog.get_by_role("img", name="two.png")).to_be_visible()
    app.page.keyboard.press("Escape")
    expect(app.dialog).to_have_count(0)
    expect(picture(app, "one.png")).to_be_focused()


@pytest.mark.thorough
@pytest.mark.service_worker
def test_an_interrupted_upload_resumes(signed_up: App):
    app = signed_up
    data = some_bytes(13_000_000)
    sent: list[tuple[str, int]] = []

    def record(request) -> None:
        if "/v1/uploads/" in request.url and request.method == "PATCH":
            sent.append((request.headers["upload-offset"], int(request.headers.get("content-length", 0))))

    app.page.on("request", record)
    cut_offsets = []

    def cut_off(route) -> None:
        if route.request.method == "PATCH" and route.request.headers["upload-offset"] != "0" and not cut_offsets:
            cut_offsets.append(route.request.headers["upload-offset"])
            app.go_offline()
            return route.abort("internetdisconnected")
        return route.continue_()

    app.page.route("**/v1/uploads/*", cut_off)
    app.new_note("Large\n")
    app.wait_saved()
    app.attach({"name": "large.bin", "mimeType": "application/octet-stream", "buffer": data})
    expect(app.page.get_by_role("progressbar", name="Upload")).to_be_visible()
    deadline = time.monotonic() + 30
    while not cut_offsets and time.monotonic() < deadline:
        app.page.wait_for_timeout(50)
    assert cut_offsets, "the upload was sent in one request"
    app.reload() if app.run("return Boolean(navigator.serviceWorker?.controller)") else None
    before = len(sent)
    app.go_online()
    app.wait_synced()
    # Bytes that the server already had are not sent again.
    assert int(cut_offsets[0]) > 0
    assert min(int(offset) for offset, _ in sent[before:]) >= int(cut_offsets[0])
    client = Client(app.url)
    client.sign_in(app.email)
    [attachment] = client.read_all()[0]["attachments"]
    assert attachment["sha256"] == hashlib.sha256(data).hexdigest()


@pytest.mark.thorough
def test_three_parallel_downloads_and_the_open_note_first(browser_and_device):
    app, other = browser_and_device
    app.wait_synced()
    app.go_offline()
    from attachments import attach

    notes = {}
    for number in range(8):
        note = other.make_note(f"note {number}")
        notes[note] = attach(other.client, some_bytes(20_000, seed=number), filename=f"{number}.png")
        other.edit(note, f"attachments.{notes[note]}", True)
    other.sync()
    running, most, order = set(), [0], []

    def begin(request) -> None:
        if request.url.endswith("/data"):
            running.add(request.url)
            order.append(request.url.split("/")[-2])
            most[0] = max(most[0], len(running))

    app.page.on("request", begin)
    for event in ("requestfinished", "requestfailed"):
        app.page.on(event, lambda request: running.discard(request.url))

    def slowly(route) -> None:
        time.sleep(0.1)
        route.continue_()

    app.page.route("**/v1/attachments/*/data", slowly)
    app.go_online()
    app.row("note 7").wait_for()
    last = list(notes)[7]
    app.open("note 7")
    app.wait_for("Object.values(argument).every(id => copy.attachment(id)?.isHere)", notes)
    assert 1 <= most[0] <= 3
    assert notes[last] in order[:6], "the picture of the open note was downloaded after all others"
    assert len(order) == len(set(order)) == 8, "an attachment was downloaded twice"
