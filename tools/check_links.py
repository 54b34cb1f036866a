"""Check all internal links of the built site: files, and anchors in them. ``make docs`` runs it.

Nothing may be loaded from elsewhere either: the site has to work without a network.
"""

import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LOADS = {"link": "href", "script": "src", "img": "src", "iframe": "src", "source": "srcset"}
# <link> that only names an address.
NAMES_ONLY = {"canonical", "author", "license", "prev", "next", "search", "index", "genindex"}


class Page(HTMLParser):
    """The links, the loaded files and the anchors of one page."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.anchors: set[str] = set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.anchors |= {given[name] for name in ("id", "name") if name in given}
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        address = given.get(LOADS.get(tag, ""), "")
        if address and given.get("rel", "") not in NAMES_ONLY:
            self.loaded.append(address.split()[0])


def problems(root: Path) -> Iterator[str]:
    """One line for each link that leads nowhere, and for each file that another site has."""
    pages = {path.resolve(): Page(path) for path in _pages(root)}
    for path, page in pages.items():
        here = path.relative_to(root.resolve())
        for address in page.loaded:
            if urlsplit(address).netloc:
                yield f"{here}: loads {address}"
        for address in [*page.links, *page.loaded]:
            if reason := _broken(address, path, pages):
                yield f"{here}: {address}: {reason}"


def _pages(root: Path) -> list[Path]:
    """The pages of the site; the theme keeps a template among its files."""
    return [path for path in sorted(root.rglob("*.html")) if "_static" not in path.parts]


def _broken(address: str, path: Path, pages: dict[Path, Page]) -> str:
    parts = urlsplit(address)
    if parts.scheme or parts.netloc:
        return ""
    target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
    if target.is_dir():
        target /= "index.html"
    if not target.is_file():
        return "no such file"
    anchor = unquote(parts.fragment)
    if anchor and target in pages and anchor not in pages[target].anchors:
        return "no such anchor"
    return ""


def main(root: Path) -> int:
    """Print the problems; 1 if there are any."""
    if not (root / "index.html").is_file():
        print(f"{root} has no index.html; run `make docs` first")
        return 1
    found = list(problems(root))
    for line in found:
        print(line)
    print(f"{len(_pages(root))} pages, {len(found)} broken links")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1] if len(sys.argv) > 1 else "docs/_build/html")))
