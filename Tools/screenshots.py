"""Takes screenshots of the web app for the README, into docs/screenshots: the main views, light and dark, on a desktop and a phone.

Starts a server with a temporary folder and the notes in evening.py. `screenshots.py [NAME…]` takes only these.
"""

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

from app import CHROMIUM, App
from client import Client, Server
from device import Device
from evening import NOTES, PICTURES, drawing
from playwright.sync_api import Browser, expect, sync_playwright

FOLDER = ROOT / "docs/screenshots"
EMAIL = "ada@example.com"
ARGUMENTS = ["--no-sandbox", "--disable-dev-shm-usage", "--hide-scrollbars", "--font-render-hinting=none"]
DESK = {"viewport": {"width": 1280, "height": 800}, "device_scale_factor": 1.5}
PHONE = {"viewport": {"width": 390, "height": 780}, "device_scale_factor": 2, "has_touch": True, "is_mobile": True}
MAXIMUM_BYTES = 300_000  # of one screenshot, after compression


def draw(browser: Browser, folder: Path) -> None:
    """Renders the attached pictures with the browser."""
    for name, (width, height, _) in PICTURES.items():
        page = browser.new_page(viewport={"width": width, "height": height})
        page.set_content(drawing(name))
        options = {"type": "png"} if name.endswith(".png") else {"type": "jpeg", "quality": 88}
        page.screenshot(path=folder / name, **options)
        page.close()
    (folder / "tickets.pdf").write_bytes(b"%PDF-1.4\n" + bytes(84_000))


def evening() -> tuple[timezone, str]:
    """A time zone in which it is now between 20:00 and 21:00, and its name in browsers."""
    hours = (20 - datetime.now(UTC).hour + 11) % 24 - 11
    return timezone(timedelta(hours=hours)), f"Etc/GMT{-hours:+d}"  # positive is west


def moment(days: int, hour: str) -> datetime:
    """The time of day, some days ago, in the zone of evening()."""
    hours, minutes = map(int, hour.split(":"))
    local = datetime.now(evening()[0]) - timedelta(days=days)
    return local.replace(hour=hours, minute=minutes, second=7, microsecond=0).astimezone(UTC)


def write_notes(device: Device) -> dict[str, str]:
    """Creates the notes, and returns their IDs by title."""
    tags = {name: device.make_tag(name) for name in sorted({tag for note in NOTES for tag in note["tags"]})}
    created = {}
    for order, note in enumerate(reversed(NOTES)):
        date = moment(*note["when"]) + timedelta(milliseconds=order)
        fixed = {"creationDate": date.strftime("%Y-%m-%dT%H:%M:%S.") + f"{date.microsecond // 1000:03}Z"}
        unique_id = device.make("note", fixed=fixed, text=note["text"])
        for tag in note["tags"]:
            device.tag(unique_id, tags[tag])
        if note.get("archived"):
            device.archive(unique_id)
        if note.get("pinned"):
            device.edit(unique_id, "attributes.pinned", True)
        created[note["text"].split("\n")[0]] = unique_id
    device.sync()
    return created


def attach_all(app: App, notes: dict[str, str], folder: Path) -> None:
    """Attaches files in the app, which determines the size of pictures and creates previews."""
    for note in NOTES:
        files = [folder / name for name in [*note.get("pictures", []), *note.get("files", [])]]
        if files:
            app.go(f"#/note/{notes[note['text'].split(chr(10))[0]]}")
            expect(app.editor).to_be_visible()
            app.attach(*files)
            app.wait_for(
                "copy.note(argument[0]).attachments.length === argument[1]", [app.note_id, len(files)]
            )
    app.wait_synced(seconds=60)


# The views, each with a name and a function that opens it.


def at_note(title: str) -> Callable[[App, dict], None]:
    def go(app: App, notes: dict) -> None:
        app.go(f"#/note/{notes[title]}")
        expect(app.editor).to_be_visible()
        app.page.wait_for_function("() => [...document.querySelectorAll('article img')].every(image => image.complete)")

    return go


def at_list(app: App, notes: dict) -> None:
    app.go("#/")
    expect(app.rows.first).to_be_visible()


def searching(app: App, notes: dict) -> None:
    at_note("Quince jelly")(app, notes)
    app.search("quince")


def syncing(app: App, notes: dict) -> None:
    at_note("Bread for Sunday")(app, notes)
    app.sync_button.click()
    expect(app.dialog).to_be_visible()


def history(app: App, notes: dict) -> None:
    app.go(f"#/history/{notes['Bread for Sunday']}")
    expect(app.page.get_by_text("Current version")).to_be_visible()


def pictured(app: App, notes: dict) -> None:
    at_note("Lisbon in March")(app, notes)
    app.button("Show coast.jpg").click()
    app.page.wait_for_function("() => document.querySelector('dialog img')?.naturalWidth === 1600")


SHOTS = {
    "desk-light": (DESK, "light", at_note("The bed by the wall")),
    "desk-dark": (DESK, "dark", at_note("Lisbon in March")),
    "search": (DESK, "light", searching),
    "history": (DESK, "light", history),
    "sync": (DESK, "dark", syncing),
    "picture": (DESK, "dark", pictured),
    "phone-list-light": (PHONE, "light", at_list),
    "phone-note-light": (PHONE, "light", at_note("Bread for Sunday")),
    "phone-list-dark": (PHONE, "dark", at_list),
    "phone-note-dark": (PHONE, "dark", at_note("The bed by the wall")),
}


def take(browser: Browser, server: Server, notes: dict, name: str) -> None:
    profile, scheme, go = SHOTS[name]
    context = browser.new_context(
        **profile, color_scheme=scheme, reduced_motion="reduce", locale="en-GB", timezone_id=evening()[1]
    )
    app = App(context, server.url).visit()
    app.sign_in(EMAIL, device_name="Laptop" if profile is DESK else "Phone")
    app.wait_synced(seconds=60)
    app.wait_for("copy.notes({archived: null}).every(id => copy.note(id).attachments.every(one => copy.attachment(one).isHere))")
    go(app, notes)
    app.page.mouse.move(0, 0)
    app.page.wait_for_timeout(600)  # until pictures are decoded and animations have ended
    file = FOLDER / f"{name}.png"
    app.page.screenshot(path=file)
    context.close()
    if app.page_errors:
        sys.exit(f"screenshots: {name}: {app.page_errors}")
    # 256 colours are enough for it, and a third of the size.
    subprocess.run(["pngquant", "--force", "--skip-if-larger", "--strip", "--speed", "1", "--quality", "70-98", "--output", file, file], check=False)
    size = file.stat().st_size
    print(f"{file.relative_to(ROOT)}: {size / 1000:.0f} KB", flush=True)
    if size > MAXIMUM_BYTES:
        sys.exit(f"screenshots: {name} has {size} bytes, but the maximum is {MAXIMUM_BYTES}")


def main() -> int:
    chosen = sys.argv[1:] or list(SHOTS)
    if unknown := [name for name in chosen if name not in SHOTS]:
        print(f"screenshots: unknown names {', '.join(unknown)}. The names are {', '.join(SHOTS)}", file=sys.stderr)
        return 2
    FOLDER.mkdir(parents=True, exist_ok=True)
    begin = time.monotonic()
    with Server() as server, sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        client = Client(server.url)
        client.sign_up(EMAIL, device_name="Laptop")
        device = Device(client)
        notes = write_notes(device)
        draw(browser, Path(folder))
        context = browser.new_context()
        app = App(context, server.url).visit()
        app.sign_in(EMAIL, device_name="Phone")
        app.wait_synced()
        attach_all(app, notes, Path(folder))
        context.close()
        # A second version for the history.
        device.sync()
        bread = notes["Bread for Sunday"]
        device.write(bread, device.text(bread).replace("water 380 g", "water 360 g, warm"))
        device.sync()
        for name in chosen:
            take(browser, server, notes, name)
        browser.close()
    print(f"screenshots: {len(chosen)} in {time.monotonic() - begin:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
