"""Rules for the web app's own files: their size, which may import which, and that nothing comes from elsewhere.

Sizes are those of scripts as the server sends them, without comments. All else is read from Public/, without a browser.
"""

import gzip
import json
import posixpath
import re
import subprocess
from html.parser import HTMLParser
from pathlib import Path

import pytest
from client import ROOT, Server

PUBLIC = ROOT / "Public"
# Bytes of scripts, each compressed by itself: those that load with the page, before the list of notes shows, and all of them.
FIRST_BYTES = 90 * 1024
ALL_BYTES = 150 * 1024
MODULES = 36
# Which folders of js/ each may import from. `app.js` puts them together.
IMPORTS = {
    "model": {"model"},
    "store": {"store", "model"},
    "sync": {"sync", "store", "model"},
    "archive": {"archive", "store", "model"},
    "ui": {"ui", "sync", "store", "archive", "model"},
}
# Ways for a text to become markup or a program.
MAKES_MARKUP = re.compile(
    r"\b(?:inner|outer)HTML\b|\binsertAdjacentHTML\b|\bdocument\.write(?:ln)?\b|\beval\(|\bnew Function\b|\bsrcdoc\b"
    r"|\b(?:setHTMLUnsafe|createContextualFragment|parseFromString)\(|\bjavascript:"
)
NETWORK = re.compile(r"(?<![#.\w])fetch\(|\bXMLHttpRequest\b|\bEventSource\b|\bWebSocket\b|\bsendBeacon\b")
DATABASE = re.compile(r"\bindexedDB\b")
PAGE = re.compile(r"(?<![.\w])(?:document|window)\.")
IMPORT = re.compile(r"""^\s*(?:import|export)\b[^"'()]*?\bfrom\s*["']([^"']+)["']|^\s*import\s*["']([^"']+)["']""", re.M)
DYNAMIC = re.compile(r"""\bimport\(\s*([^)]*)\)""")


def scripts(folder: str = "") -> list[Path]:
    return sorted((PUBLIC / folder).rglob("*.js"))


def name(path: Path) -> str:
    """As an address: `/js/app.js`."""
    return "/" + path.relative_to(PUBLIC).as_posix()


def without_comments(text: str) -> str:
    """Lines kept. (What begins like one inside a string or a pattern is taken for one: no rule here looks for what could stand
    after it.)"""
    text = re.sub(r"/\*.*?\*/", lambda found: "\n" * found[0].count("\n"), text, flags=re.S)
    return re.sub(r"(?m)^\s*//.*$|(?<=[\s;{}])//(?=\s).*$", "", text)


def code(path: Path) -> str:
    return without_comments(path.read_text())


def imports(path: Path) -> list[str]:
    """The addresses of the modules that one imports."""
    found = [one or other for one, other in IMPORT.findall(code(path))]
    for target in DYNAMIC.findall(code(path)):
        assert re.fullmatch(r"""["'][^"']+["']\s*""", target), f"{name(path)} imports what nobody can foresee: {target}"
        found.append(target.strip().strip("\"'"))
    for target in found:
        assert target.startswith(("./", "../")), f"{name(path)} imports {target}: a relative path names a file of ours"
    return [posixpath.normpath(posixpath.join(posixpath.dirname(name(path)), target)) for target in found]


def lines_with(pattern: re.Pattern, paths: list[Path]) -> list[str]:
    return [
        f"{name(path)}:{number}: {line.strip()}"
        for path in paths
        for number, line in enumerate(code(path).split("\n"), 1)
        if pattern.search(line)
    ]


class Tags(HTMLParser):
    """Every tag of a page with its attributes, and the text inside scripts and styles."""

    def __init__(self, path: Path):
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.inside: list[str] = []
        self.feed(path.read_text())

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attributes)))

    def handle_data(self, data: str) -> None:
        if self.tags and self.tags[-1][0] in ("script", "style") and self.lasttag == self.tags[-1][0]:
            self.inside.append(data.strip())


PAGES = sorted(PUBLIC.rglob("*.html"))


def preloaded() -> list[str]:
    """The addresses of modules that load with the page."""
    tags = Tags(PUBLIC / "index.html").tags
    return [tag["href"] for kind, tag in tags if kind == "link" and tag.get("rel") == "modulepreload"]


# Their size.


@pytest.fixture(scope="module")
def served(server: Server) -> dict[str, bytes]:
    """Every script as the server sends it, by its address."""
    client = server.client()
    return {name(path): client.get(name(path)).content for path in scripts()}


def test_scripts_are_small(served: dict[str, bytes]):
    """The budgets are for all scripts together; a failure shows each folder's share."""
    sizes = {address: len(gzip.compress(script, 9)) for address, script in served.items()}
    first = {address: sizes[address] for address in preloaded()}
    shares: dict[str, int] = {}
    for address, size in sizes.items():
        folder = posixpath.dirname(address)
        shares[folder] = shares.get(folder, 0) + size
    assert sum(first.values()) <= FIRST_BYTES, first
    assert sum(sizes.values()) <= ALL_BYTES, shares


def programs(folder: Path, output: Path) -> dict[str, str]:
    """Every script of a folder as the TypeScript compiler prints it, without comments."""
    paths = sorted(folder.rglob("*.js"))
    options = ["--allowJs", "--removeComments", "--target", "ES2022", "--module", "ES2022", "--moduleResolution", "node"]
    subprocess.run(["tsc", *options, "--rootDir", folder, "--outDir", output, *paths], check=True, timeout=120)
    return {path.relative_to(output).as_posix(): path.read_text() for path in output.rglob("*.js")}


def test_scripts_are_served_without_comments_and_otherwise_unchanged(served: dict[str, bytes], tmp_path: Path):
    """The server recognizes comments by the lexical grammar alone; the TypeScript compiler parses the scripts."""
    for address, script in served.items():
        path = tmp_path / "served" / address[1:]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(script)
        assert without_comments(script.decode()) == script.decode(), address
        assert script.count(b"\n") == (PUBLIC / address[1:]).read_bytes().count(b"\n"), "a line of an error would be another"
    expected = programs(PUBLIC, tmp_path / "public-programs")
    assert len(expected) == len(served)
    assert programs(tmp_path / "served", tmp_path / "served-programs") == expected


def test_modules_are_few():
    """Each is a request at the first visit."""
    assert len(scripts("js")) <= MODULES, [name(path) for path in scripts("js")]


def test_every_module_is_preloaded_and_nothing_else():
    """Then all come in one round trip after the page, whatever imports what."""
    modules = [name(path) for path in scripts("js")]
    wanted = "\n".join(f'  <link rel="modulepreload" href="{module}">' for module in modules)
    assert sorted(preloaded()) == modules, f"index.html wants just these:\n{wanted}"


def test_every_module_is_used():
    """A module that app.js does not reach is downloaded for nothing."""
    found, waiting = set(), ["/js/app.js"]
    while waiting:
        module = waiting.pop()
        if module not in found:
            found.add(module)
            assert (PUBLIC / module[1:]).is_file(), f"{module} is imported, and not there"
            waiting += imports(PUBLIC / module[1:])
    assert found == {name(path) for path in scripts("js")}


# Who may call whom.


@pytest.mark.parametrize("folder", IMPORTS)
def test_imports_run_one_way(folder):
    paths = scripts(f"js/{folder}")
    assert paths, f"js/{folder} is empty"
    wrong = [
        f"{name(path)} imports {target}"
        for path in paths
        for target in imports(path)
        if target.split("/")[2] not in IMPORTS[folder]
    ]
    assert wrong == []


def test_no_other_folder():
    """One that no rule knows would be bound by none."""
    assert {path.parent.name for path in scripts("js") if path.parent != PUBLIC / "js"} == set(IMPORTS)
    assert [name(path) for path in (PUBLIC / "js").glob("*.js")] == ["/js/app.js"]
    assert [name(path) for path in PUBLIC.glob("*.js")] == ["/sw.js"]


def test_views_know_neither_network_nor_database():
    assert lines_with(NETWORK, scripts("js/ui")) == []
    assert lines_with(DATABASE, scripts("js/ui")) == []


@pytest.mark.parametrize("folder", ["model", "store", "sync", "archive"])
def test_the_rest_knows_no_page(folder):
    assert lines_with(PAGE, scripts(f"js/{folder}")) == []


def test_the_model_knows_nothing_but_values():
    assert lines_with(NETWORK, scripts("js/model")) + lines_with(DATABASE, scripts("js/model")) == []


# Text is never markup, and nothing comes from elsewhere.


def test_text_is_never_markup():
    assert lines_with(MAKES_MARKUP, scripts()) == []


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_nothing_is_inline(path):
    page = Tags(path)
    assert not any(page.inside), "a script or style inside the page"
    for tag, attributes in page.tags:
        assert tag != "style" and "style" not in attributes, tag
        assert not [attribute for attribute in attributes if attribute.startswith("on")], tag
        assert tag != "base"


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_pages_load_only_what_is_ours(path):
    for tag, attributes in Tags(path).tags:
        for attribute in ("src", "href", "srcset", "data", "poster", "action", "manifest"):
            target = attributes.get(attribute)
            if target is None or tag == "a" or target.startswith("#"):  # where a person may go is another matter
                continue
            assert re.match(r"/(?!/)", target), f"{tag} {attribute}={target}"
            assert (PUBLIC / target[1:].partition("?")[0]).is_file(), f"{tag} names {target}, which is not there"


@pytest.mark.parametrize("path", sorted(PUBLIC.rglob("*.css")), ids=lambda path: path.name)
def test_styles_load_only_what_is_ours(path):
    text = re.sub(r"/\*.*?\*/", "", path.read_text(), flags=re.S)
    assert "@import" not in text
    for target in re.findall(r"url\(\s*[\"']?([^\"')]*)", text):
        assert re.match(r"/(?!/)|\.{1,2}/|data:image/|#", target), target


def test_the_manifest_names_only_what_is_there():
    manifest = json.loads((PUBLIC / "manifest.webmanifest").read_text())
    assert manifest["start_url"].startswith("/")
    assert manifest["icons"]
    for icon in manifest["icons"]:
        assert icon["src"].startswith("/") and (PUBLIC / icon["src"][1:]).is_file(), icon["src"]


# The rules themselves.


def test_the_reader_of_code(tmp_path, monkeypatch):
    """It sees what it has to see: a rule that sees nothing would hold for ever."""
    monkeypatch.setattr(f"{__name__}.PUBLIC", tmp_path)
    (tmp_path / "js/ui").mkdir(parents=True)
    path = tmp_path / "js/ui/bad.js"
    path.write_text(
        "/** @typedef {import(\"../sync/engine.js\").Engine} Engine\n * innerHTML */\n"
        "import {a,\n  b} from \"./a.js\"\nimport \"../model/b.js\"\nexport {c} from './c.js'\n"
        "const d = await import(\"../store/d.js\") // eval(x)\n"
        "element.innerHTML = \"http://x\"\nconst x = await fetch(\"/v1\")\nthis.#fetch(1)\nindexedDB.open()\n"
        "window.x = document.title\n"
    )
    assert sorted(imports(path)) == ["/js/model/b.js", "/js/store/d.js", "/js/ui/a.js", "/js/ui/c.js"]
    assert lines_with(MAKES_MARKUP, [path]) == ['/js/ui/bad.js:8: element.innerHTML = "http://x"']
    assert [line.split(":")[1] for line in lines_with(NETWORK, [path])] == ["9"]
    assert [line.split(":")[1] for line in lines_with(DATABASE, [path])] == ["11"]
    assert [line.split(":")[1] for line in lines_with(PAGE, [path])] == ["12"]
    for statement in ('import("https://evil.example/x.js")', "import(name)", 'import "https://evil.example/x.js"'):
        path.write_text(statement)
        with pytest.raises(AssertionError):
            imports(path)
