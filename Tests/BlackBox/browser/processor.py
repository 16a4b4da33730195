"""The processor time of a page."""

from collections.abc import Callable

from playwright.sync_api import Page


def processor_clock(page: Page) -> Callable[[], float]:
    """Returns a function that returns the processor time of the page's main thread, in seconds. Other processes do not affect it."""
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})
    return lambda: {one["name"]: one["value"] for one in session.send("Performance.getMetrics")["metrics"]}["TaskDuration"]
