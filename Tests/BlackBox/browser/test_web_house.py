"""Rules for the web app's files: sizes, allowed imports, and no resources from other servers.

Sizes are of scripts as the server sends them, without comments. The other tests read Public/ without a browser.
"""

import gzip
import json
import posixpath
import re
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path

import pytest
from client import ROOT, Server

PUBLIC = ROOT / "Public"
# Bytes of compressed scripts: those that load with the page, before the list of notes appears, and all scripts. Of the
# translations, one counts, because a browser loads only one.
FIRST_BYTES = 90 * 1024
ALL_BYTES = 150 * 1024
MODULES = 60
# The folders of js/ that each folder may import from. `app.js` imports all.
IMPORTS = {
    "model": {"model"},
    "store": {"store", "model"},
    "sync": {"sync", "store", "model"},
    "archive": {"archive", "store", "model"},
    "ui": {"ui", "text", "sync", "store", "archive", "model"},
    "text": set(),
}
# Ways to turn text into markup or code.
UNSAFE_MARKUP = re.compile(
    r"\b(?:inner|outer)HTML\b|\binsertAdjacentHTML\b|\bdocument\.write(?:ln)?\b|\beval\(|\bnew Function\b|\bsrcdoc\b"
    r"|\b(?:setHTMLUnsafe|createContextualFragment|parseFromString)\(|\bjavascript:"
)
NETWORK = re.compile(r"(?<![#.\w])fetch\(|\bXMLHttpRequest\b|\bEventSource\b|\bWebSocket\b|\bsendBeacon\b")
DATABASE = re.compile(r"\bindexedDB\b")
PAGE = re.compile(r"(?<![.\w])(?:document|window)\.")
IMPORT = re.compile(r"""^\s*(?:import|export)\b[^"'()]*?\bfrom\s*["']([^"']+)["']|^\s*import\s*["']([^"']+)["']""", re.M)
STRING = re.compile(r'''"((?:[^"\\\n]|\\.)*)"|`((?:[^`\\]|\\.)*)`''')
# What a person may read: a word with a capital letter, two words, or a word beside a value. Selectors are excluded.
WORDS = re.compile(r"^(?!.*[\[(.#])(?:\W*[A-Z][a-z]+(?=$|[ .,:;!?…])|.*\b[a-z]{2,} [a-z]{2,}|.*[a-z] $| [a-z])", re.S)
NOT_READ = {
    # keys, the type of a drag, the prefix of names in localStorage
    "Arrow", "Backspace", "Delete", "Enter", "Escape", "Home", "Key", "Tab", "Files", "typed ",
    # names of classes and parts of a text
    "md-line ", "widget ",
    # names that are the same in all languages
    "Android", "Chrome", "Edge", "Firefox", "Linux", "Mac", "Opera", "Safari", "Windows", "Hesper",
}  # fmt: skip
DYNAMIC = re.compile(r"""\bimport\(\s*([^)]*)\)""")


def scripts(folder: str = "") -> list[Path]:
    return sorted((PUBLIC / folder).rglob("*.js"))


def name(path: Path) -> str:
    """The URL path, like `/js/app.js`."""
    return "/" + path.relative_to(PUBLIC).as_posix()


def without_comments(text: str) -> str:
    """Keeps line breaks. Also removes what looks like a comment in strings and regular expressions. That affects no rule here."""
    text = re.sub(r"/\*.*?\*/", lambda found: "\n" * found[0].count("\n"), text, flags=re.S)
    return re.sub(r"(?m)^\s*//.*$|(?<=[\s;{}])//(?=\s).*$", "", text)


def code(path: Path) -> str:
    return without_comments(path.read_text())


def imports(path: Path, later: bool = True) -> list[str]:
    """The URL paths of the modules that a module imports; with `later`, also when they are needed, by `import("…")`."""
    found = [one or other for one, other in IMPORT.findall(code(path))]
    for target in DYNAMIC.findall(code(path)):
        assert re.fullmatch(r"""["'][^"']+["']\s*""", target), f"{name(path)} imports a computed path: {target}"
        if later:
            found.append(target.strip().strip("\"'"))
    for target in found:
        assert target.startswith(("./", "../")), f"{name(path)} imports {target}, which is not a relative path"
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
    """The URL paths of modules that load with the page."""
    tags = Tags(PUBLIC / "index.html").tags
    return [tag["href"] for kind, tag in tags if kind == "link" and tag.get("rel") == "modulepreload"]


# Sizes


@pytest.fixture(scope="module")
def served(server: Server) -> dict[str, bytes]:
    """Every script as the server sends it, by URL path."""
    client = server.client()
    return {name(path): client.get(name(path)).content for path in scripts()}


def test_scripts_are_small(served: dict[str, bytes]):
    """The limits are for all scripts together. A failure shows the size of each folder."""
    sizes = {address: len(gzip.compress(script, 9)) for address, script in served.items()}
    translations = sorted((size, address) for address, size in sizes.items() if address.startswith("/js/text/"))
    for _, address in translations[:-1]:
        del sizes[address]
    first = {address: sizes[address] for address in preloaded()}
    shares: dict[str, int] = {}
    for address, size in sizes.items():
        folder = posixpath.dirname(address)
        shares[folder] = shares.get(folder, 0) + size
    assert sum(first.values()) <= FIRST_BYTES, first
    assert sum(sizes.values()) <= ALL_BYTES, shares


# Parses and prints each script by itself. `transpile` takes seven times as long, and `tsc` would also check types.
PRINT_SCRIPTS = """
const {createSourceFile, createPrinter, ScriptTarget} = require(process.argv[1])
const versions = JSON.parse(require("fs").readFileSync(0, "utf8"))
const printer = createPrinter({removeComments: true})
const print = ([address, script]) => {
  const source = createSourceFile(address, script, ScriptTarget.ES2022)
  if (source.parseDiagnostics.length) throw new Error(`${address}: ${source.parseDiagnostics[0].messageText}`)
  return [address, printer.printFile(source)]
}
console.log(JSON.stringify(versions.map(scripts => Object.fromEntries(Object.entries(scripts).map(print)))))
"""


def programs(*versions: dict[str, str]) -> list[dict[str, str]]:
    """Versions of scripts as the TypeScript compiler prints them, without comments."""
    compiler = Path(shutil.which("tsc")).resolve().parents[1] / "lib/typescript.js"
    command = ["node", "-e", PRINT_SCRIPTS, compiler]
    done = subprocess.run(command, input=json.dumps(versions), capture_output=True, text=True, check=True, timeout=120)
    return json.loads(done.stdout)


def test_scripts_are_served_without_comments_and_otherwise_unchanged(served: dict[str, bytes]):
    """The server recognizes comments by the lexical grammar alone; the TypeScript compiler parses the scripts."""
    sources = {address: (PUBLIC / address[1:]).read_text() for address in served}
    scripts = {address: script.decode() for address, script in served.items()}
    for address, script in scripts.items():
        assert without_comments(script) == script, address
        assert script.count("\n") == sources[address].count("\n"), "line numbers in errors would be wrong"
    printed, expected = programs(scripts, sources)
    assert printed == expected
    assert all(printed.values()), "a script was not printed"


def test_modules_are_few():
    """Each module is a request at the first visit."""
    assert len(scripts("js")) <= MODULES, [name(path) for path in scripts("js")]


def used_modules(later: bool) -> set[str]:
    """The URL paths of app.js and of all modules that it imports, directly or not."""
    found, waiting = set(), ["/js/app.js"]
    while waiting:
        module = waiting.pop()
        if module not in found:
            found.add(module)
            assert (PUBLIC / module[1:]).is_file(), f"{module} is imported but does not exist"
            waiting += imports(PUBLIC / module[1:], later)
    return found


def test_every_module_that_is_needed_first_is_preloaded_and_nothing_else():
    """These modules then load in one round trip after the page. Those of `import("…")` load when they are needed."""
    modules = sorted(used_modules(later=False))
    wanted = "\n".join(f'  <link rel="modulepreload" href="{module}">' for module in modules)
    assert sorted(preloaded()) == modules, f"index.html must contain exactly:\n{wanted}"


def test_every_module_is_used():
    """Modules that app.js does not import would be downloaded without need."""
    assert used_modules(later=True) == {name(path) for path in scripts("js")}


# Dependencies


@pytest.mark.parametrize("folder", IMPORTS)
def test_folders_import_only_allowed_folders(folder):
    paths = scripts(f"js/{folder}")
    assert paths, f"js/{folder} is empty"
    wrong = [
        f"{name(path)} imports {target}"
        for path in paths
        for target in imports(path)
        if target.split("/")[2] not in IMPORTS[folder]
    ]
    assert wrong == []


def test_all_folders_have_rules():
    """A folder without rules would not be checked."""
    assert {path.parent.name for path in scripts("js") if path.parent != PUBLIC / "js"} == set(IMPORTS)
    assert [name(path) for path in (PUBLIC / "js").glob("*.js")] == ["/js/app.js"]
    assert [name(path) for path in PUBLIC.glob("*.js")] == ["/sw.js"]


def test_views_use_neither_network_nor_database():
    assert lines_with(NETWORK, scripts("js/ui")) == []
    assert lines_with(DATABASE, scripts("js/ui")) == []


@pytest.mark.parametrize("folder", ["model", "store", "sync", "archive"])
def test_other_folders_do_not_use_the_page(folder):
    assert lines_with(PAGE, scripts(f"js/{folder}")) == []


def test_the_model_uses_neither_network_nor_database():
    assert lines_with(NETWORK, scripts("js/model")) + lines_with(DATABASE, scripts("js/model")) == []


# Text is never markup, and all resources are local


def test_text_is_never_markup():
    """Only HTML that is pasted is parsed: into a document that is never shown (paste.js)."""
    [line] = lines_with(UNSAFE_MARKUP, scripts())
    assert line.startswith("/js/ui/paste.js:") and "new DOMParser().parseFromString(policy" in line


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_pages_have_no_inline_scripts_or_styles(path):
    page = Tags(path)
    assert not any(page.inside), "an inline script or style"
    for tag, attributes in page.tags:
        assert tag != "style" and "style" not in attributes, tag
        assert not [attribute for attribute in attributes if attribute.startswith("on")], tag
        assert tag != "base"


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_pages_load_only_local_files(path):
    for tag, attributes in Tags(path).tags:
        for attribute in ("src", "href", "srcset", "data", "poster", "action", "manifest"):
            target = attributes.get(attribute)
            if target is None or tag == "a" or target.startswith("#"):  # links may lead elsewhere
                continue
            assert re.match(r"/(?!/)", target), f"{tag} {attribute}={target}"
            assert (PUBLIC / target[1:].partition("?")[0]).is_file(), f"{tag} names {target}, which does not exist"


@pytest.mark.parametrize("path", sorted(PUBLIC.rglob("*.css")), ids=lambda path: path.name)
def test_styles_load_only_local_files(path):
    text = re.sub(r"/\*.*?\*/", "", path.read_text(), flags=re.S)
    assert "@import" not in text
    for target in re.findall(r"url\(\s*[\"']?([^\"')]*)", text):
        assert re.match(r"/(?!/)|\.{1,2}/|data:image/|#", target), target


def test_the_manifest_names_only_existing_files():
    manifest = json.loads((PUBLIC / "manifest.webmanifest").read_text())
    assert manifest["start_url"].startswith("/")
    assert manifest["icons"]
    for icon in manifest["icons"]:
        assert icon["src"].startswith("/") and (PUBLIC / icon["src"][1:]).is_file(), icon["src"]


def texts_in(path: Path) -> list[str]:
    """The strings of a script that a person may read."""
    found = []
    for number, line in enumerate(code(path).split("\n"), 1):
        for quoted, template in STRING.findall(line):
            words = re.sub(r"\$\{[^}]*\}", "", quoted or template).removesuffix(" · Hesper")
            if WORDS.search(words) and words not in NOT_READ and "{count}" not in words:
                found.append(f"{name(path)}:{number}: {words}")
    return found


def test_views_and_styles_contain_no_texts():
    """They are in index.html, so that they can be translated. Words that no one reads are in NOT_READ. paste.js has names of tags."""
    paths = [path for path in scripts("js/ui") if path.name != "paste.js"]
    assert [text for path in paths for text in texts_in(path)] == ["/js/ui/language.js:6: just now"]
    for path in PUBLIC.rglob("*.css"):
        assert re.findall(r'content: "[^"\\]*[A-Za-z]{2}[^"]*"', path.read_text()) == [], path.name


# The rules themselves


def test_the_rules_find_violations(tmp_path, monkeypatch):
    """A rule that finds nothing would always pass."""
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
    assert "/js/store/d.js" not in imports(path, later=False)
    assert lines_with(UNSAFE_MARKUP, [path]) == ['/js/ui/bad.js:8: element.innerHTML = "http://x"']
    assert [line.split(":")[1] for line in lines_with(NETWORK, [path])] == ["9"]
    assert [line.split(":")[1] for line in lines_with(DATABASE, [path])] == ["11"]
    assert [line.split(":")[1] for line in lines_with(PAGE, [path])] == ["12"]
    path.write_text(
        'f("Archive", "new note", `on ${name}`, `${n} left`, "Enter", "a[href]", "keydown", `${a}px`, "textarea, select", "New")\n'
    )
    assert [line.split(": ")[1] for line in texts_in(path)] == ["Archive", "new note", "on ", " left", "New"]
    for statement in ('import("https://evil.example/x.js")', "import(name)", 'import "https://evil.example/x.js"'):
        path.write_text(statement)
        with pytest.raises(AssertionError):
            imports(path)
