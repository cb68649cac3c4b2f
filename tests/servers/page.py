#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Goal:   the page of examples/thumbs shows a person the result of each picture: each thumbnail,
        each 503 of a full pool, each file that is no picture; and the pictures that were refused
        find room when the pool has grown. Shows promise X7.
Method: Chromium shows the page and chooses files as a person does. What the page says is compared
        with the figures of the host. The picture of the page is for the README of the example.

    page.py WEIR PICTURE, in the folder of thumbs_web.py
"""
import socket
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True

import pictures  # noqa: E402
from chromium import Browser  # noqa: E402
from thumbs_web import check, serving  # noqa: E402

PICTURE = sys.argv[2]
BACKGROUNDS = Path("/usr/share/backgrounds/xfce")
NAMES = ("xfce-teal.jpg", "xfce-blue.jpg", "xfce-flower.svg", "xfce-stripes.png")


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class Page:
    def __init__(self, browser):
        self.browser = browser

    def cards(self, kind):
        return self.browser.value(f"document.querySelectorAll('figure.{kind}').length")

    def send(self, paths, copies=1):
        """Returns when each picture has its answer."""
        self.browser.value(f"document.getElementById('copies').value = {copies}")
        self.browser.choose_files("#files", paths)
        self.settle()

    def settle(self):
        self.browser.until("count.sent > 0 && count.waiting === 0")

    def sizes(self):
        return [tuple(size) for size in self.browser.value(
            "[...document.querySelectorAll('figure.done img')]"
            ".map(image => [image.naturalWidth, image.naturalHeight])")]


def refused(service):
    return int(service.inspect("web")["refused"])


def test_thumbnails(page):
    paths = [BACKGROUNDS / name for name in NAMES]
    # Two mailboxes have room for two at any moment, also before a worker has taken its first one.
    page.send(paths[:2])
    page.send(paths[2:])
    check(page.cards("done") == len(NAMES), f"{page.cards('done')} thumbnails")
    for path, size in zip(paths, page.sizes()):
        of = pictures.size_of(path)
        wrong = of and pictures.wrong_size(of, size, 128)
        check(not wrong and max(size) == 128, f"{path}: {wrong or size}")
    page.send([Path(__file__).resolve()])
    text = page.browser.value("document.querySelector('figure.failed').textContent")
    check("422: not a picture" in text and "page.py" in text, f"no picture: {text}")


def test_full_pool(service, page):
    """More pictures at a time than the pool has room for, until the page has shown a 503."""
    before = page.cards("done")
    while page.cards("refused") == 0:
        page.send([BACKGROUNDS / "xfce-teal.jpg"], 12)
    check(page.cards("refused") == refused(service), f"{page.cards('refused')} cards of 503, "
          f"and the server refused {refused(service)}")
    done = service.pool()["done"]
    # The file that is no picture has been done as well.
    check(page.cards("done") + 1 == done, f"{page.cards('done')} thumbnails, the pool did {done}")
    check(page.cards("done") > before, "thumbnails of a full pool")
    text = page.browser.value("document.querySelector('figure.refused').textContent")
    check("503: no room" in text and "again after 1 s" in text, f"a refused picture: {text}")


def test_grown_pool(service, page):
    cards = page.browser.value("document.querySelectorAll('figure').length")
    before = refused(service)
    service.run("scale", "thumbs", "8")
    page.browser.value("document.getElementById('again').click()")
    page.settle()
    check((page.cards("refused"), page.cards("done")) == (0, cards - 1),
          f"{page.cards('refused')} refused, {page.cards('done')} of {cards} done")
    check(refused(service) == before, "the server refused none")
    check(page.browser.value("document.getElementById('again').disabled"), "none is left to send")


def main():
    port = free_port()
    # Processes of the browser write to the folder until a moment after its end.
    with serving(f"127.0.0.1:{port}") as service, \
            tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        browser = Browser(folder, f"http://127.0.0.1:{port}/", 840, 575)
        try:
            page = Page(browser)
            test_thumbnails(page)
            test_full_pool(service, page)
            browser.picture(PICTURE)
            test_grown_pool(service, page)
        finally:
            browser.close()
    print(f"the page shows what the host did; a picture of the page: {PICTURE}")


if __name__ == "__main__":
    main()
