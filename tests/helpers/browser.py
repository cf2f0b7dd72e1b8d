"""Pages in a real browser: Debian's Chromium, driven by Playwright, which downloads nothing.

`python -m tests.helpers.browser` installs Chromium where that is possible; `make test-browser` calls it. In tests, the
fixture `pages` of tests/browser/conftest.py opens files, and fails a test whose page logs an error, throws, or asks for
anything but itself.
"""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
NO_CHROMIUM = "these tests need Chromium, and there is none: apt-get install chromium"


def find_chromium() -> str | None:
    """Return the path of an installed Chromium, or None."""
    return next((path for name in NAMES if (path := shutil.which(name))), None)


def install_chromium() -> None:
    """Install Debian's Chromium if there is none and we may; say what happens either way."""
    if find_chromium():
        return
    if shutil.which("apt-get") is None or os.geteuid() != 0:
        print(f"{NO_CHROMIUM}, as root, on Debian. They are skipped.")
        return
    print("installing Debian's chromium", flush=True)
    for command in (["update", "-qq"], ["install", "-qq", "-y", "--no-install-recommends", "chromium"]):
        if subprocess.run(["apt-get", *command], env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"}).returncode:
            print(f"apt-get {command[0]} failed. {NO_CHROMIUM.capitalize()}. They are skipped.")
            return


@contextmanager
def chromium() -> Iterator[Any]:
    """Run a headless browser."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        # A container's root may not have Chromium's sandbox; pages here are our own files.
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=["--no-sandbox"])
        yield browser
        browser.close()


class Pages:
    """Opens files in the browser, and remembers what went wrong in them."""

    def __init__(self, browser: Any) -> None:
        self._browser = browser
        self._open = ExitStack()
        self.problems: list[str] = []

    def open(
        self,
        file: Path,
        fragment: str = "",
        *,
        width: int = 1280,
        height: int = 800,
        dark: bool = False,
        within: Path | None = None,
        **more: Any,
    ) -> Any:
        """Return Playwright's page of a file, loaded, in a window of this size; `more` is for `new_context`.

        It may ask for itself, and for what lies `within` a folder.
        """
        scheme = "dark" if dark else "light"
        context = self._browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme, **more)
        self._open.callback(context.close)
        page = context.new_page()
        page.on("console", lambda message: message.type in ("error", "warning") and self._note(message.text))
        page.on("pageerror", lambda error: self._note(f"{error}"))
        page.route("**/*", lambda route: self._let_through(route, file.resolve().as_uri(), within))
        page.goto(file.resolve().as_uri() + (f"#{fragment}" if fragment else ""))
        return page

    def close(self) -> None:
        """Close every page."""
        self._open.close()

    def _note(self, problem: str) -> None:
        self.problems.append(problem)

    def _let_through(self, route: Any, address: str, within: Path | None) -> None:
        asked = route.request.url.partition("#")[0]
        if asked == address or (within is not None and asked.startswith(f"{within.resolve().as_uri()}/")):
            route.continue_()
        else:
            self._note(f"the page asked for {route.request.url}")
            route.abort()


def overflow(page: Any) -> int:
    """Return by how many pixels a page is wider than its window."""
    return int(page.evaluate("document.scrollingElement.scrollWidth - innerWidth"))


def outside(page: Any) -> list[str]:
    """Return the visible elements that reach over the window's left or right edge and are not clipped by a parent."""
    found: list[str] = page.evaluate(
        """() => [...document.querySelectorAll("body *")].filter((node) => {
            const box = node.getBoundingClientRect();
            if (!box.width || !box.height || getComputedStyle(node).visibility === "hidden") return false;
            for (let up = node.parentElement; up; up = up.parentElement) {
                if (getComputedStyle(up).overflowX !== "visible") return false;
            }
            return box.left < -1 || box.right > innerWidth + 1;
        }).map((node) => node.outerHTML.slice(0, 120))"""
    )
    return found


def unnamed(page: Any) -> list[str]:
    """Return the visible controls that have no accessible name."""
    found: list[str] = page.evaluate(
        """() => [...document.querySelectorAll("a[href], button, input, select, textarea, summary, [tabindex]")]
            .filter((node) => node.getClientRects().length)
            .filter((node) => !(node.ariaLabel || node.labels?.length || node.textContent.trim()) || (
                ["INPUT", "SELECT", "TEXTAREA"].includes(node.tagName) && !node.ariaLabel && !node.labels?.length
            )).map((node) => node.outerHTML.slice(0, 120))"""
    )
    return found


if __name__ == "__main__":
    install_chromium()
