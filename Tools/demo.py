"""What Hesper is for, on real texts: Debian's fortunes, edited on two devices that do not see each other."""

import json
import re
import shutil
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "Tests/BlackBox"))

from client import Client, Server  # noqa: E402
from device import Device  # noqa: E402

FORTUNES = Path("/usr/share/games/fortunes")
FOLDER = ROOT / ".build/demo"
TEXTS_A_FILE = 12


def title(text: str) -> None:
    print(f"\n=== {text}")


def write_texts(folder: Path) -> int:
    """One file a text, in folders named for the files they come from, which become tags; how many there are."""
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
            count += 1
    return count


def run_import(server: Server, email: str, folder: Path) -> None:
    done = server.command("import", "--account", email, str(folder), seconds=600)
    print((done.stdout + done.stderr).strip()[-1500:])
    if done.returncode:
        sys.exit("demo: the import failed")


def show_receipts(name: str, receipts: list[dict]) -> None:
    print(f"{name} is told:")
    for receipt in receipts:
        fields = {field: result["outcome"] for field, result in receipt.get("fields", {}).items()}
        outcomes = json.dumps(fields) if fields else ""
        print(f"  {receipt['objectType']} {receipt['uniqueID']}: {receipt['status']} {outcomes}")


def show_note(name: str, device: Device, note: str) -> None:
    shown = device.note(note)
    if shown is None:
        print(f"{name}: the note is deleted")
        return
    tags = ", ".join(device.tags[tag] for tag in shown["tags"])
    print(f"{name}: {'archived, ' if shown['archived'] else ''}tags: {tags}")
    print("".join(f"  | {line}\n" for line in shown["text"].splitlines()), end="")


def several_lines(device: Device, count: int) -> list[str]:
    """Notes with some lines, to have something to merge."""
    found = [note for note, shown in sorted(device.notes.items()) if 3 <= len(shown["text"].strip().splitlines()) <= 8]
    if len(found) < count:
        sys.exit("demo: the import brought too few texts of several lines")
    return found[:: len(found) // count][:count]


def edit_offline(a: Device, b: Device, notes: list[str]) -> None:
    both, archived, deleted, tagged = notes
    title("Offline: both devices edit the same notes")
    lines = a.text(both).rstrip("\n").split("\n")
    a.write(both, "\n".join([lines[0] + " (read twice)", *lines[1:]]) + "\n")
    b.write(both, "\n".join([*lines, "Heard on the train."]) + "\n")
    print("A changes the first line of a note, B adds a last line to it.")
    a.archive(archived)
    b.write(archived, b.text(archived).rstrip("\n") + "\nTo be continued.\n")
    print("A archives another, B goes on writing in it.")
    a.delete(deleted)
    b.write(deleted, b.text(deleted).rstrip("\n") + "\nThis must not be lost.\n")
    print("A deletes a third, B writes in it.")
    a.tag(tagged, a.make_tag("Favourites"))
    b.tag(tagged, b.make_tag("favourites"))
    b.tag(both, b.make_tag("Train"))
    print("Both make a tag “Favourites” and put it on a fourth, in two spellings.")


def show_history(client: Client, note: str) -> None:
    title("The history of the first note, newest first")
    for edit in client.get(f"/v1/notes/{note}/edits").json()["edits"]:
        value = edit.get("value")
        text = value.strip().replace("\n", " / ")[:70] if isinstance(value, str) else json.dumps(value)
        who = edit["device"].get("name") or "the server"
        print(f"  {edit['clock']}  {who:<10} {edit['attribute']:<12.12} {'*' if edit['standing'] else ' '} {text}")


def main() -> int:
    if not FORTUNES.is_dir():
        sys.exit("demo: there are no fortunes; Tools/set-up.sh demo installs them")
    shutil.rmtree(FOLDER, ignore_errors=True)
    (FOLDER / "data").mkdir(parents=True)
    with Server(data=FOLDER / "data") as server:
        title(f"A server on an empty folder: {server.url}, data in {server.data.relative_to(ROOT)}")
        first = server.client(device_name="A")
        print(f"{write_texts(FOLDER / 'texts')} texts from {FORTUNES} are files in folders now.")
        title("Import: folders become tags")
        run_import(server, first.email, FOLDER / "texts")
        title("Two devices sign in and read everything")
        a, b = Device(first), Device(first.another_device(device_name="B"))
        for name, device in (("A", a), ("B", b)):
            device.sync()
            print(f"{name} has {len(device.notes)} notes, {len(device.tags)} tags, digest {device.copy.digest}")
        before = len(a.notes)
        title("Import again: nothing is doubled")
        run_import(server, first.email, FOLDER / "texts")
        a.sync(), b.sync()
        print(f"A has {len(a.notes)} notes.")

        notes = several_lines(a, 4)
        edit_offline(a, b, notes)
        title("Online again: A syncs, then B, then A")
        show_receipts("A", a.sync())
        show_receipts("B", b.sync())
        a.sync()
        title("The notes now, the same on both")
        for note in [*notes, *b.rescued.values()]:
            show_note(f"{note}, on A", a, note)
            if a.note(note) != b.note(note):
                sys.exit("demo: the devices show different notes")
        show_history(first, notes[0])
        title("Digests")
        said = first.get("/v1/digests").json()["digest"]
        print(f"A           {a.copy.digest}\nB           {b.copy.digest}\nthe server  {said}")
        check = server.command("check")
        print(check.stdout.strip() or check.stderr.strip())
        text = a.text(notes[0]) or ""
        right = (
            a.is_synced
            and b.is_synced
            and said == a.copy.digest == b.copy.digest
            and check.returncode == 0
            and before == len(a.notes)
            and "(read twice)" in text
            and "Heard on the train." in text
            and len(b.rescued) == 1
        )
        print("\nEqual: nothing lost, nothing doubled." if right else "\nNOT as it should be.")
        return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
