"""Tests/Vectors in Chromium. Tests/Web runs them in Node, whose JavaScript engine is the same."""

import json

import pytest
from client import ROOT
from playwright.sync_api import Browser, Page, Route

pytestmark = pytest.mark.thorough

VECTORS = ROOT / "Tests/Vectors"
SERVER_KINDS = {"revocations", "text-merges"}  # only implemented by servers
KINDS = sorted({path.stem for path in VECTORS.glob("*.json")} - SERVER_KINDS)


@pytest.fixture(scope="module")
def page(browser: Browser):
    """A page of an invented origin that serves the files of the repository."""

    def respond(route: Route) -> None:
        path = ROOT / route.request.url.removeprefix("http://localhost:1/")
        if path.suffix == ".js":
            route.fulfill(content_type="text/javascript", body=path.read_text())
        else:
            route.fulfill(content_type="text/html", body="<!doctype html><title>Vectors</title>")

    context = browser.new_context()
    context.route("**/*", respond)
    page: Page = context.new_page()
    page.goto("http://localhost:1/")
    yield page
    context.close()


def test_all_kinds_are_checked(page):
    assert sorted(page.evaluate("async () => (await import('/Tests/Web/vectors.js')).KINDS")) == KINDS


@pytest.mark.parametrize("kind", KINDS)
def test_vectors(page, kind):
    result = page.evaluate(
        "async ([kind, data]) => (await import('/Tests/Web/vectors.js')).check(kind, data)",
        [kind, json.loads((VECTORS / f"{kind}.json").read_text())],
    )
    assert result["failures"] == []
    assert result["passed"] > 0
