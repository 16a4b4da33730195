"""Tests/Vectors in the browser: what node says of the model, Chromium says too."""

import json

import pytest
from client import ROOT
from playwright.sync_api import Browser, Page, Route

VECTORS = ROOT / "Tests/Vectors"
SERVERS = {"revocations", "text-merges"}  # what only a server does
KINDS = sorted({path.stem for path in VECTORS.glob("*.json")} - SERVERS)


@pytest.fixture(scope="module")
def page(browser: Browser):
    """A page of a made-up origin that has the files of the repository."""

    def answer(route: Route) -> None:
        path = ROOT / route.request.url.removeprefix("http://localhost:1/")
        if path.suffix == ".js":
            route.fulfill(content_type="text/javascript", body=path.read_text())
        else:
            route.fulfill(content_type="text/html", body="<!doctype html><title>Vectors</title>")

    context = browser.new_context()
    context.route("**/*", answer)
    page: Page = context.new_page()
    page.goto("http://localhost:1/")
    yield page
    context.close()


def test_no_kind_is_forgotten(page):
    assert sorted(page.evaluate("async () => (await import('/Tests/Web/vectors.js')).KINDS")) == KINDS


@pytest.mark.parametrize("kind", KINDS)
def test_vectors(page, kind):
    answer = page.evaluate(
        "async ([kind, data]) => (await import('/Tests/Web/vectors.js')).check(kind, data)",
        [kind, json.loads((VECTORS / f"{kind}.json").read_text())],
    )
    assert answer["failures"] == []
    assert answer["passed"] > 0
