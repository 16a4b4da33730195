"""Pictures in texts (protocol.md): their marks are put in by pasting and dropping, copied with their bytes to other notes, and kept."""

import base64
import io
import re
import wave
import zipfile
from pathlib import Path

from app import EDITOR, App
from playwright.sync_api import expect
from test_web_attachments import PICTURE, drop, picture

MARK = r"!\[\]\(attachment:([0-9a-f-]{36})\)"
OTHER = PICTURE.parent / "grub-4x3.png"


def paste_text(app: App, plain: str, html: str = "") -> None:
    """Pastes text into the focused element; the browser's own insertion is left out if the app does not do it."""
    app.page.evaluate(
        """([plain, html]) => {
          const clipboardData = new DataTransfer()
          if (plain) clipboardData.setData("text/plain", plain)
          if (html) clipboardData.setData("text/html", html)
          document.activeElement.dispatchEvent(new ClipboardEvent("paste", {clipboardData, bubbles: true, cancelable: true}))
        }""",
        [plain, html],
    )


def attachments_of(app: App, note: str | None = None) -> list[dict]:
    return app.run("return copy.note(argument).attachments.map(id => copy.attachment(id))", note or app.note_id)


def wait_text(app: App, pattern: str) -> re.Match:
    app.page.wait_for_function(f"pattern => new RegExp(pattern).test(({EDITOR}).text)", arg=pattern)
    found = re.search(pattern, app.text)
    assert found, app.text
    return found


def test_a_picture_has_a_mark_where_it_is_pasted(two_browsers: list[App]):
    a, b = two_browsers
    a.new_note("Rome\nbefore after")
    for _ in range(5):
        a.page.keyboard.press("ArrowLeft")
    a.paste(PICTURE.read_bytes(), "villa.png", "image/png")
    first = wait_text(a, rf"^Rome\nbefore \n{MARK}\nafter$")[1]
    assert a.text[a.selection[1] :] == "after"
    # A file that is no picture is only attached.
    drop(a, b"words", "list.txt", "text/plain")
    expect(a.page.get_by_role("button", name=re.compile("^list.txt"))).to_be_visible()
    a.expect_text(f"Rome\nbefore \n![](attachment:{first})\nafter")
    assert sorted(one["filename"] for one in attachments_of(a)) == ["list.txt", "villa.png"]
    # Without the mark, the picture is still in the note.
    a.page.keyboard.press("Control+z")
    a.expect_text("Rome\nbefore after")
    expect(picture(a, "villa.png")).to_be_visible()
    a.page.keyboard.press("Control+Shift+z")
    a.leave()
    a.wait_synced()
    b.open("Rome")
    expect(picture(b, "villa.png")).to_be_visible()
    b.expect_text(f"Rome\nbefore \n![](attachment:{first})\nafter")
    # It is printed once, in the text.
    b.page.emulate_media(media="print")
    expect(b.editor.locator("img")).to_be_visible()
    expect(picture(b, "villa.png")).to_be_hidden()
    b.page.emulate_media(media="screen")
    # Removing the picture keeps the mark; marks are no words of titles and excerpts.
    b.page.get_by_role("button", name="Remove villa.png").click()
    expect(picture(b, "villa.png")).to_have_count(0)
    b.expect_text(f"Rome\nbefore \n![](attachment:{first})\nafter")
    expect(b.row("Rome")).to_contain_text("before after")
    # Pasting the mark brings the picture back.
    b.write()
    paste_text(b, f"\n![](attachment:{first})")
    expect(picture(b, "villa.png")).to_be_visible()
    assert [one["uniqueID"] for one in attachments_of(b) if one["filename"] == "villa.png"] == [first]


def test_what_a_mark_stands_for(signed_up: App):
    """The picture of the note; after its removal its name; after the attachment was deleted, the copy that a device uploaded again."""
    app = signed_up
    found = app.run(
        """const {pictureOf} = await import("/js/ui/attachments.js")
        const {successorOf} = await import("/js/model/marks.js")
        const note = await copy.createNote({text: "x"})
        const deleted = "0f0c5a1e-6d0b-4c8e-9d3a-2b7f4e1c8a90"
        const [id, again] = [await copy.attach(note, new Blob(["a"]), {filename: "a.png"}),
          await copy.attach(note, new Blob(["b"]), {filename: "b.png", uniqueID: successorOf(deleted, note)})]
        const show = mark => (({attachment, name}) => [attachment?.filename, name])(pictureOf(copy, note, {alt: "", ...mark}))
        const before = show({id})
        await copy.detach(note, id)
        return [before, show({id}), show({id, alt: "A"}), show({id: deleted}), show({id: "unknown"})]"""
    )
    assert found == [["a.png", "a.png"], [None, "a.png"], [None, "A"], ["b.png", "b.png"], [None, ""]]
    app.wait_synced()


def test_a_mark_that_is_pasted_into_another_note_gets_a_copy(browser_and_device, new_app):
    app, other = browser_and_device
    app.new_note("One\n")
    app.paste(PICTURE.read_bytes(), "villa.png", "image/png")
    first = wait_text(app, MARK)[1]
    app.leave()
    one = app.note_id
    app.new_note("Two\n")
    unknown = "00000000-0000-4000-8000-000000000000"
    words = f"x ![The villa](attachment:{first} \"t\") ![](attachment:{first}) ![](attachment:{unknown})"
    paste_text(app, words)
    copied = wait_text(app, r"\n" + r"x !\[The villa\]\(attachment:([0-9a-f-]{36}) \"t\"\)")[1]
    assert copied != first
    assert app.text == "Two\n" + words.replace(first, copied)
    app.leave()
    two = app.note_id
    [before], [after] = attachments_of(app, one), attachments_of(app, two)
    assert (before["uniqueID"], after["uniqueID"]) == (first, copied)
    for name in ("filename", "sha256", "width", "height", "preview", "mimeType"):
        assert before[name] == after[name]
    app.wait_synced()
    assert other.client.get(f"/v1/attachments/{copied}/data").content == PICTURE.read_bytes()
    # The exports of the server and of the app have the same Markdown.
    app.run("await copy.setArchived([argument], true)", two)
    app.wait_synced()
    app.go("#/transfer")
    with app.page.expect_download() as download:
        app.button("Export everything").click()
    exports = [Path(download.value.path()).read_bytes(), other.client.get("/v1/export").content]
    for data in exports:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            texts = {name: archive.read(name) for name in archive.namelist() if name.endswith(".md")}
            assert archive.read("Attachments/villa.png") == PICTURE.read_bytes()
        paths = {f"Attachments/villa{number}.png" for number in ("", "%202")}
        mine, theirs = texts["One.md"].decode(), texts["Archive/Two.md"].decode()
        assert re.search(r"\]\(([^ )]*)", mine)[1] in paths
        assert re.search(r'x !\[The villa\]\(\.\./([^ )]*) "t"\) ', theirs)[1] in paths
        assert theirs.endswith(f"![](attachment:{unknown})")
    # Another browser without the bytes and without a network leaves the mark as it is, and says so.
    third = new_app()
    third.page.route("**/v1/attachments/*/data", lambda route: route.abort())
    third.sign_in(app.email)
    third.wait_for("copy.notes().length === 1")
    third.new_note("Three\n")
    paste_text(third, f"![](attachment:{first})")
    expect(third.toast("1 picture could not be copied. Check your connection, then paste again.")).to_be_visible()
    third.expect_text(f"Three\n![](attachment:{first})")
    third.leave()
    third.page.unroute("**/v1/attachments/*/data")


def test_html_is_pasted_as_markdown(new_app):
    app = new_app()
    app.sign_up()
    app.new_note("Note\n")
    html = '<meta charset="utf-8"><h2>Plan</h2><ul><li>one <b>two</b></li></ul><img src="https://example.org/x.png" alt="remote" onerror="alert(1)">'
    paste_text(app, "Plan\none two", html)
    expected = "Note\n## Plan\n\n- one **two**\n\n![remote](https://example.org/x.png)"
    app.expect_text(expected)
    app.page.keyboard.press("Control+z")
    app.expect_text("Note\n")
    # A picture in the HTML becomes an attachment.
    dot = base64.b64encode(OTHER.read_bytes()).decode()
    paste_text(app, "", f'<p>a</p><img src="data:image/png;base64,{dot}" alt="a chart"><p>b</p>')
    mark = wait_text(app, r"^Note\na\n\n!\[a chart\]\(attachment:([0-9a-f-]{36})\)\n\nb$")[1]
    [attachment] = attachments_of(app)
    assert (attachment["uniqueID"], attachment["byteCount"]) == (mark, OTHER.stat().st_size)
    app.leave()
    app.wait_synced()
    assert not [line for line in app.log if "example.org" in line]


def test_keys_of_pasting(new_app):
    """Shift keeps the plain text: the browser then has no HTML."""
    app = new_app()
    app.context.grant_permissions(["clipboard-read", "clipboard-write"])
    app.sign_up()
    app.new_note("")
    app.page.evaluate(
        """() => navigator.clipboard.write([new ClipboardItem({
          "text/plain": new Blob(["one"], {type: "text/plain"}), "text/html": new Blob(["<b>one</b>"], {type: "text/html"})})])"""
    )
    app.page.keyboard.press("Control+v")
    app.expect_text("**one**")
    app.page.keyboard.press("Control+Shift+v")
    app.expect_text("**one**one")
    app.leave()
    app.wait_synced()


def sound() -> bytes:
    buffer = io.BytesIO()
    with wave.open(buffer, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(8000)
        file.writeframes(bytes(16_000))
    return buffer.getvalue()


def test_sound_and_video_play_in_place(two_browsers: list[App]):
    a, b = two_browsers
    a.new_note("Media\n")
    a.wait_saved()
    # The browser makes a video itself.
    video = a.page.evaluate(
        """async () => {
          const canvas = document.createElement("canvas")
          const context = canvas.getContext("2d")
          const recorder = new MediaRecorder(canvas.captureStream(20), {mimeType: "video/webm"})
          const parts = []
          recorder.ondataavailable = ({data}) => parts.push(data)
          const end = new Promise(resolve => { recorder.onstop = resolve })
          recorder.start()
          for (let i = 0; i < 8; i++) {
            context.fillStyle = i % 2 ? "red" : "blue"
            context.fillRect(0, 0, 300, 150)
            await new Promise(requestAnimationFrame)
            await new Promise(resolve => setTimeout(resolve, 50))
          }
          recorder.stop()
          await end
          const bytes = new Uint8Array(await new Blob(parts).arrayBuffer())
          return btoa(Array.from(bytes, byte => String.fromCharCode(byte)).join(""))
        }"""
    )
    large = sound() + bytes(5 << 20)  # not downloaded unasked
    a.attach({"name": "voice.wav", "mimeType": "audio/wav", "buffer": sound()}, {"name": "clip.webm", "mimeType": "video/webm",
        "buffer": base64.b64decode(video)}, {"name": "long.wav", "mimeType": "audio/wav", "buffer": large},
        {"name": "odd.wav", "mimeType": "audio/x-odd", "buffer": b"x"}, {"name": "broken.wav", "mimeType": "audio/wav", "buffer": b"y"},
        {"name": "page.pdf", "mimeType": "application/pdf", "buffer": b"%PDF-1.4"})  # fmt: skip
    a.wait_synced()
    b.open("Media")
    b.page.wait_for_function("() => document.querySelectorAll('article :is(audio, video)').length === 2")
    for name in ("voice.wav", "clip.webm"):
        media = b.page.locator(f"article [controls][aria-label='{name}']")
        assert media.evaluate("media => media.play().then(() => new Promise(resolve => { media.ontimeupdate = () => media.currentTime > 0 && resolve(true) }))")
    # Other types, and files that are broken, are downloaded.
    for name in ("odd.wav", "page.pdf", "broken.wav"):
        with b.page.expect_download() as download:
            b.page.get_by_role("button", name=re.compile(name)).first.click()
        assert download.value.suggested_filename == name
    expect(b.button("Play odd.wav")).to_have_count(0)
    b.button("Play long.wav").click()
    expect(b.page.locator("article audio[aria-label='long.wav']")).to_be_visible()
    assert b.accessibility() == []
