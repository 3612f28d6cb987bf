"""A report's page, followed element by element: it is sound, and nothing comes from elsewhere."""

import re
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

VOID = {"meta", "br", "link", "img", "hr", "input"}
OUTSIDE = ("url(", "@import", "innerHTML", "fetch(", "http://", "https://")


class Checker(HTMLParser):
    """Follows the elements of a page: all are closed in order, none loads anything or runs on an event."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.texts: list[str] = []
        self.seen: list[str] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.seen.append(tag)
        names = {name for name, _ in attributes}
        assert not {"src", "href", "srcset"} & names
        assert not any(name.startswith("on") for name in names)
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.seen.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] not in ("style", "script"):
            self.texts.append(data.strip())


def check_page(page: Path) -> tuple[str, list[str]]:
    """What a page says and its elements, once it is known to be sound."""
    text = page.read_text(encoding="utf-8")
    checker = Checker()
    checker.feed(text)
    checker.close()
    assert not checker.open
    assert not {"link", "img", "iframe"} & set(checker.seen)
    for outside in OUTSIDE:
        assert outside not in text.replace("http://www.w3.org/2000/svg", "")
    for drawing in re.findall(r"<svg.*?</svg>", text, re.DOTALL):
        ElementTree.fromstring(drawing)
    return " ".join(" ".join(filter(None, checker.texts)).split()), checker.seen
