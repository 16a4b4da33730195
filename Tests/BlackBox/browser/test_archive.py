"""Export and import in a real browser, with its streams, Blobs and IndexedDB, without a server."""

from base64 import b64decode

from archive import Export
from store_page import StoreTab, pages, tab  # noqa: F401 - fixtures

ARCHIVE = """
const {exportAll} = await import("/js/archive/export.js")
const {importFiles} = await import("/js/archive/import.js")
"""
FILL = """
    const tag = await copy.createTag("Paris")
    const id = await copy.createNote({text: "# Été à Paris\\nand more", tags: [tag], attributes: {pinned: true}})
    await copy.attach(id, new Blob([new Uint8Array(300_000).map((_, i) => i * i)], {type: "image/png"}), {filename: "a.png"})
    const packed = (await exportAll(copy)).blob
"""


def test_export_and_import(tab: StoreTab) -> None:
    done = tab.run(
        ARCHIVE
        + FILL
        + """
        const before = copy.note(id), picture = before.attachments[0]
        const shown = note => ({...note, isUnsent: null})
        await copy.erase()
        await signIn(copy)
        const file = new File([packed], "hesper.zip")
        const first = await importFiles(copy, [file]), again = await importFiles(copy, [file])
        const bytes = await (await copy.bytes(picture)).arrayBuffer()
        const data = await new Promise(resolve => {
          const reader = new FileReader()
          reader.onload = () => resolve(reader.result.split(",")[1])
          reader.readAsDataURL(packed)
        })
        return {before: shown(before), after: shown(copy.note(id)), first, again, size: bytes.byteLength, data,
          attachment: copy.attachment(picture), tags: copy.tags(), found: copy.notes({query: "ete par"})}
        """
    )
    assert done["after"] == done["before"]
    assert done["found"] == [done["before"]["uniqueID"]]
    assert [done["first"][name] for name in ("notes", "tags", "attachments", "unchanged")] == [1, 1, 1, 0]
    assert [done["again"][name] for name in ("notes", "tags", "attachments", "unchanged")] == [0, 0, 0, 1]
    assert done["first"]["refused"] == done["again"]["refused"] == []
    assert done["size"] == 300_000 and done["attachment"]["isHere"]
    export = Export(b64decode(done["data"]))
    assert export.names == ["Été à Paris.md", "Attachments/a.png", "hesper.json"]


def test_import_requires_signing_in(tab: StoreTab) -> None:
    slug = tab.run(
        ARCHIVE + FILL + 'await copy.erase(); return thrown(() => importFiles(copy, [new File([packed], "a.zip")]))'
    )
    assert slug == "signed-out"
