"""Makes exports of other apps, for tests of imports."""

import base64
import io
import json
import tarfile
import zipfile
from hashlib import md5
from pathlib import Path
from typing import BinaryIO

PICTURE = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8//8/AwAFAAEKLrTnAAAAAElFTkSuQmCC"
)


def zipped(file: Path | BinaryIO, files: dict[str, str | bytes]) -> None:
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as made:
        for name, data in files.items():
            made.writestr(name, data)


def packed(files: dict[str, str | bytes]) -> bytes:
    """A zip file."""
    buffer = io.BytesIO()
    zipped(buffer, files)
    return buffer.getvalue()


def enml(content: str) -> str:
    return (
        '<![CDATA[<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE en-note SYSTEM '
        f'"http://xml.evernote.com/pub/enml2.dtd"><en-note>{content}</en-note>]]>'
    )


def enex(*notes: str, doctype: str = "") -> str:
    return (
        f'<?xml version="1.0" encoding="UTF-8"?>\n{doctype}<en-export export-date="20260101T000000Z">'
        + "".join(f"<note>{note}</note>" for note in notes)
        + "</en-export>"
    )


def simplenote(path: Path) -> None:
    notes = [
        {"id": "1", "content": "Rome\r\nA [plan](simplenote://note/2)", "creationDate": "2019-05-06T07:08:09.000Z",
         "lastModified": "2020-05-06T07:08:09.000Z", "tags": ["travel"], "pinned": True},
        {"id": "2", "content": "Plan", "creationDate": "2019-05-06T07:08:09.000Z"},
    ]  # fmt: skip
    trash = [{"id": "3", "content": "gone", "creationDate": "2019-05-06T07:08:09.000Z"}]
    zipped(path, {"source/notes.json": json.dumps({"activeNotes": notes, "trashedNotes": trash}), "Rome.txt": "Rome"})


def standard_notes(path: Path) -> None:
    def item(uuid: str, kind: str, content: dict) -> dict:
        dates = {"created_at": "2019-05-06T07:08:09.000Z", "updated_at": "2020-05-06T07:08:09.000Z"}
        return {"uuid": uuid, "content_type": kind, "content": content} | dates

    items = [
        item("1", "Note", {"title": "Rome", "text": "A plan", "appData": {"org.standardnotes.sn": {"pinned": True}}}),
        item("2", "Note", {"title": "Plan", "text": ""}),
        item("3", "Note", {"title": "gone", "text": "", "trashed": True}),
        item("4", "Tag", {"title": "travel", "references": [{"uuid": "1", "content_type": "Note"}]}),
    ]
    text = json.dumps({"version": "004", "items": items})
    zipped(path, {"Standard Notes Backup and Import File.txt": text, "Items/Note/Rome.txt": "A plan"})


def keep(path: Path) -> None:
    def note(title: str, **members: object) -> str:
        dates = {"userEditedTimestampUsec": 1588748889000000, "createdTimestampUsec": 1557126489000000 + len(title)}
        return json.dumps({"isTrashed": False, "isPinned": False, "title": title} | dates | members)

    zipped(path, {
        "Takeout/Keep/Rome.json": note("Rome", textContent="A plan", isPinned=True, labels=[{"name": "travel"}],
                                       attachments=[{"filePath": "a.jpeg", "mimetype": "image/png"}]),
        "Takeout/Keep/Plan 2.json": note("Plan 2", listContent=[{"text": "pack", "isChecked": False}]),
        "Takeout/Keep/gone.json": note("gone", isTrashed=True),
        "Takeout/Keep/a.jpg": PICTURE,
    })  # fmt: skip


def obsidian(path: Path) -> None:
    zipped(path, {
        "Vault/.obsidian/app.json": "{}",
        "Vault/Rome.md": "---\ntags: [travel]\n---\nA [[Plan]]\n\n![[a.png]]\n",
        "Vault/Plan.md": "pack",
        "Vault/pictures/a.png": PICTURE,
    })  # fmt: skip


def joplin(path: Path) -> None:
    dates = "created_time: 2019-05-06T07:08:09.000Z\nupdated_time: 2020-05-06T07:08:09.000Z"
    ids = {number: f"{number:032x}" for number in range(9)}
    items = {
        1: f"travel\n\nid: {ids[1]}\nparent_id: \ntype_: 2",
        2: f"Rome\n\nA [plan](:/{ids[3]})\n\n![](:/{ids[4]})\n\nid: {ids[2]}\nparent_id: {ids[1]}\n{dates}\ntype_: 1",
        3: f"Plan\n\nid: {ids[3]}\nis_todo: 1\n{dates}\ntype_: 1",
        4: f"a.png\n\nid: {ids[4]}\nmime: image/png\nfile_extension: png\ntype_: 4",
        5: f"gone\n\nid: {ids[5]}\ndeleted_time: 1588748889000\n{dates}\ntype_: 1",
    }
    files = {f"{ids[number]}.md": text.encode() for number, text in items.items()}
    files[f"resources/{ids[4]}.png"] = PICTURE
    with tarfile.open(path, "w") as made:
        for name, data in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            made.addfile(info, io.BytesIO(data))


def evernote(path: Path) -> None:
    digest = md5(PICTURE, usedforsecurity=False).hexdigest()
    content = f'<div>A <a href="evernote:///view/1/s1/2/2/">Plan</a></div><en-media hash="{digest}" type="image/png"/>'
    resource = (
        f'<resource><data encoding="base64">{base64.encodebytes(PICTURE).decode()}</data><mime>image/png</mime>'
        "<resource-attributes><file-name>a.png</file-name></resource-attributes></resource>"
    )
    dates = "<created>20190506T070809Z</created><updated>20200506T070809Z</updated>"
    path.write_text(enex(
        f"<title>Rome</title>{dates}<tag>travel</tag><content>{enml(content)}</content>{resource}",
        f"<title>Plan</title>{dates}<content>{enml('<div><en-todo/>pack</div>')}</content>",
        doctype='<!DOCTYPE en-export SYSTEM "http://xml.evernote.com/pub/evernote-export4.dtd">\n',
    ))  # fmt: skip


def html(path: Path) -> None:
    head = "<html><head><title>Rome</title></head>"
    zipped(path, {
        "travel/Rome.html": f'{head}<p>A <a href="Plan.html">Plan</a></p><img src="a.png"></html>',
        "travel/Plan.html": "<h1>Plan</h1><ul><li>pack</li></ul>",
        "travel/a.png": PICTURE, "root.txt": "root",
    })  # fmt: skip
