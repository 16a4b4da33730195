"""Demonstrates import, offline edits on two devices and merging, with Debian's fortunes as notes."""

import os
import re
import shutil
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

import clocks
from client import BINARY, PASSWORD, Client, Server
from device import Device

FORTUNES = Path("/usr/share/games/fortunes")
FOLDER = ROOT / ".build/demo"
TEXTS_A_FILE = 12


def title(text: str) -> None:
    print(f"\n=== {text}")


def write_texts(folder: Path) -> int:
    """Writes each text to a file, in folders named after the source files, and returns their number. The folders become tags."""
    count = 0
    for source in sorted(FORTUNES.rglob("*")):
        inside = source.relative_to(FORTUNES)
        if source.is_symlink() or not source.is_file() or source.suffix in (".dat", ".u8") or "off" in inside.parts:
            continue
        texts = [text.strip() for text in re.split(r"(?m)^%.*\n?", source.read_text()) if text.strip()]
        for index, text in enumerate(texts[:TEXTS_A_FILE]):
            file = folder / inside.parent / inside.name.removesuffix(".fortunes") / f"{index:03}.txt"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text + "\n")
            os.utime(file, (source.stat().st_mtime,) * 2)  # the date of the note
            count += 1
    return count


def run_import(server: Server, email: str, folder: Path) -> None:
    begin = time.monotonic()
    done = server.command("import", "--account", email, str(folder), seconds=600)
    if done.returncode:
        sys.exit(f"demo: the import failed\n{done.stderr}")
    print(f"{done.stdout.strip()} ({time.monotonic() - begin:.1f} s)")


def show_receipts(name: str, receipts: list[dict], names: dict[str, str]) -> None:
    print(f"Receipts of {name}:")
    for receipt in receipts:
        fields = [f"{field} {result['outcome']}" for field, result in receipt.get("fields", {}).items()]
        label = names.get(receipt["uniqueID"], f"a new {receipt['objectType']}")
        print(f"  {label:<28} {receipt['status']}{': ' if fields else ''}{', '.join(fields)}")


def show_note(name: str, device: Device, note: str) -> None:
    shown = device.note(note)
    if shown is None:
        print(f"{name}: the note is deleted")
        return
    tags = ", ".join(device.tags[tag] for tag in shown["tags"])
    print(f"{name}: {'archived, ' if shown['archived'] else ''}tags: {tags}")
    print("".join(f"  | {line}\n" for line in shown["text"].splitlines()), end="")


def several_lines(device: Device, count: int) -> list[str]:
    """Finds notes with several lines, which can be merged."""
    found = [note for note, shown in sorted(device.notes.items()) if 3 <= len(shown["text"].strip().splitlines()) <= 8]
    if len(found) < count:
        sys.exit("demo: the import has too few notes with several lines")
    return found[:: len(found) // count][:count]


def edit_offline(a: Device, b: Device, notes: list[str]) -> dict[str, str]:
    """Edits notes on both devices without syncing. Returns labels of the edited objects."""
    both, archived, deleted, tagged = notes
    names = {note: f"note {index}" for index, note in enumerate(notes, 1)}
    title("Offline: both devices edit the same notes")
    lines = a.text(both).rstrip("\n").split("\n")
    a.write(both, "\n".join([lines[0] + " (read twice)", *lines[1:]]) + "\n")
    b.write(both, "\n".join([*lines, "Heard on the train."]) + "\n")
    print("Note 1: A changes the first line, B adds a last line.")
    a.archive(archived)
    b.write(archived, b.text(archived).rstrip("\n") + "\nTo be continued.\n")
    print("Note 2: A archives it, B adds a line.")
    a.delete(deleted)
    b.write(deleted, b.text(deleted).rstrip("\n") + "\nThis must not be lost.\n")
    print("Note 3: A deletes it, B adds a line.")
    for device, spelling in ((a, "Favourites"), (b, "favourites")):
        tag = device.make_tag(spelling)
        device.tag(tagged, tag)
        names[tag] = f"tag “{spelling}”"
    train = b.make_tag("Train")
    b.tag(both, train)
    names[train] = "tag “Train”"
    print("Note 4: both add a new tag to it, A “Favourites”, B “favourites”.")
    return names


def show_history(client: Client, note: str, names: dict[str, str]) -> None:
    """Prints the edits of a note. `names` maps tag IDs to names."""
    title("The history of note 1, newest first (* is current)")
    servers = clocks.parts(client.get("/v1/changes", params={"limit": 1}).json()["serverClock"])[2]
    for edit in client.get(f"/v1/notes/{note}/edits").json()["edits"]:
        value, attribute = edit.get("value"), edit["attribute"]
        if attribute == "text":
            first, *_, last = value.strip().split("\n")
            value = f"{first[:40]} … {last[-40:]}"
        elif attribute.startswith("tags."):
            attribute, value = "tag", names[attribute.removeprefix("tags.")] + ("" if value else " removed")
        # The node of an import is derived from the note, so that a repeated import produces the same edits.
        author = edit["device"].get("name") or ("the server" if edit["device"]["uniqueID"] == servers else "the import")
        print(f"  {edit['clock'][:23]}Z  {author:<10} {attribute:<10}{'*' if edit['standing'] else ' '} {value}")


def main() -> int:
    if not FORTUNES.is_dir():
        sys.exit("demo: fortunes are not installed. Run Tools/set-up.sh demo")
    shutil.rmtree(FOLDER, ignore_errors=True)
    (FOLDER / "data").mkdir(parents=True)
    with Server(data=FOLDER / "data") as server:
        title(f"Server with an empty data folder: {server.url}, data in {server.data.relative_to(ROOT)}")
        first = server.client(device_name="A")
        print(f"{write_texts(FOLDER / 'texts')} texts from {FORTUNES} were written to files in folders.")
        title("Import: each file becomes a note, each folder a tag")
        run_import(server, first.email, FOLDER / "texts")
        title("Two devices sign in and sync")
        a, b = Device(first), Device(first.another_device(device_name="B"))
        for name, device in (("A", a), ("B", b)):
            begin = time.monotonic()
            device.sync()
            counts = f"{len(device.notes)} notes, {len(device.tags)} tags"
            print(f"{name}: {counts} in {time.monotonic() - begin:.1f} s; digest {device.copy.digest}")
        before = len(a.notes)
        title("Import again: no duplicates")
        run_import(server, first.email, FOLDER / "texts")
        a.sync(), b.sync()
        print(f"A has {len(a.notes)} notes.")

        notes = several_lines(a, 4)
        names = edit_offline(a, b, notes)
        title("Online again: A syncs, then B, then A")
        show_receipts("A", a.sync(), names)
        show_receipts("B", b.sync(), names)
        a.sync()
        title("The merged notes, the same on both devices")
        names |= {note: f"B's changes of {names[deleted]}" for deleted, note in b.rescued.items()}
        for note in [*notes, *b.rescued.values()]:
            show_note(names[note], a, note)
            if a.note(note) != b.note(note):
                sys.exit("demo: the devices show different notes")
        show_history(first, notes[0], a.tags | b.tags)
        title("Digests")
        digest = first.get("/v1/digests").json()["digest"]
        print(f"A           {a.copy.digest}\nB           {b.copy.digest}\nserver      {digest}")
        check = server.command("check")
        print(check.stdout.strip() or check.stderr.strip())
        text = a.text(notes[0]) or ""
        is_correct = (
            a.is_synced
            and b.is_synced
            and digest == a.copy.digest == b.copy.digest
            and check.returncode == 0
            and before == len(a.notes)
            and "(read twice)" in text
            and "Heard on the train." in text
            and a.note(notes[1])["archived"]
            and "To be continued." in a.text(notes[1])
            and [a.text(note).endswith("This must not be lost.\n") for note in b.rescued.values()] == [True]
            and [name.lower() for name in a.tags.values()].count("favourites") == 1
        )
        print("\nAll devices are equal. Nothing was lost or duplicated." if is_correct else "\nFAILED: the result is not as expected.")
        print(f"To explore the result, run: {os.path.relpath(BINARY, ROOT)} serve --data {server.data.relative_to(ROOT)}")
        print(f"and sign in as {first.email} with the password “{PASSWORD}”.")
        return 0 if is_correct else 1


if __name__ == "__main__":
    sys.exit(main())
