"""Tests of accessible.js: it finds each kind of fault, and none in a good page."""

import pytest
from app import ACCESSIBLE
from playwright.sync_api import Browser, Page

GOOD = """<!doctype html><html lang="en"><title>Notes</title>
<style>body { color: #333; background: #fff } a, button, input { display: inline-block; min-height: 44px; min-width: 44px }
.hidden { position: absolute; width: 1px; height: 1px; overflow: hidden; color: #eee } .large { font-size: 30px; color: #888 }
@keyframes fade { from { opacity: 0 } } h2 { animation: fade 60s }</style>
<main><h1>Notes</h1><h2>Today</h2><p>Words, and <span class="large">large ones</span></p><p class="hidden">for ears</p>
<label>Search <input type="search"></label><button aria-label="New note"><svg aria-hidden="true"></svg></button>
<div role="listbox" aria-label="Notes"><div role="option" tabindex="0" style="height:44px">Milk</div></div>
<p>Milk, see <a href="/x" style="display: inline">this</a></p><div role="status"></div></main></html>"""

# A replacement in the good page that breaks each rule, and a part of the report.
FAULTS = {
    "language": (' lang="en"', "", "language:"),
    "title": ("<title>Notes", "<title>", "title:"),
    "main": ("<main>", "<div>", "landmark:"),
    "duplicate": ("<h2>", '<b id="x"></b><i id="x"></i><h2>', "duplicate ID:"),
    "role": ('role="status"', 'role="statue"', "the unknown role statue"),
    "child without parent": ('<div role="listbox" aria-label="Notes">', "<div>", "is in no listbox"),
    "reference": ('type="search"', 'type="search" aria-describedby="nothing"', "names nothing"),
    "no alternative": ("<h2>", '<img src="data:image/gif;base64,R0lGODlhAQABAAAAACw=" width=50 height=50><h2>', "alternative text:"),
    "heading order": ("<h2>Today</h2>", "<h3>Today</h3>", "of level 3 after 1"),
    "no title": ("<h1>Notes</h1>", "<p>Notes</p>", "has no heading of level 1"),
    "empty heading": ("<h2>Today</h2>", "<h2></h2>", "is empty"),
    "live": ('role="status"', "", "live region:"),
    "name of a button": (' aria-label="New note"', "", "(button) has none"),
    "label": ("<label>Search <input", '<label>Search</label> <input placeholder="Search"', "label:"),
    "tabindex": ('tabindex="0"', 'tabindex="3"', "has tabindex 3"),
    "nesting": ("</svg></button>", '</svg><a href="/">x</a></button>', "nesting:"),
    "hidden": ('<div role="listbox"', '<div aria-hidden="true"><button>x</button></div><div role="listbox"', "is hidden from"),
    "target": ("min-height: 44px", "height: 20px", "target:"),
    "text": ("color: #333", "color: #999", "text “Words, and” has 2.85, not 4.5"),
    "half transparent text": ("<p>Words", '<p style="opacity: 0.4">Words', "contrast:"),
    "large text": ("color: #888", "color: #aaa", "has 2.32, not 3"),
    "placeholder": ('type="search"', 'type="search" placeholder="Words"><style>::placeholder { color: #bbb }</style', "placeholder “Words”"),
    "modern colours": ("color: #333", "color: oklch(0.75 0 0)", "contrast:"),
    "reflow": ("<h2>", '<div style="width: 3000px; height: 1px"></div><h2>', "reflow:"),
}  # fmt: skip


@pytest.fixture(scope="module")
def page(browser: Browser):
    page = browser.new_page()
    yield page
    page.close()


def check(page: Page, html: str, touch: bool = False) -> list[str]:
    page.set_content(html)
    return page.evaluate(ACCESSIBLE, {"touch": touch})


def test_a_good_page_has_no_faults(page):
    assert check(page, GOOD) == []
    assert check(page, GOOD, touch=True) == []


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_found(page, fault):
    good, bad, report = FAULTS[fault]
    assert good in GOOD
    assert any(report in found for found in check(page, GOOD.replace(good, bad, 1)))


def test_touch_targets_are_larger(page):
    smaller = GOOD.replace("min-height: 44px", "height: 30px")
    assert check(page, smaller) == []
    assert any(found.startswith("target:") for found in check(page, smaller, touch=True))
