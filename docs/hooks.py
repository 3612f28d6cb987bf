"""What the site has beyond the pages of docs/: files of the repository that pages link to, and the list of commands.

Pages are written to be read in the repository, too, so they link to `../src/…` and to `../ARCHITECTURE.md`. In the site
such a file becomes a page, and the link leads there.
"""

from __future__ import annotations

import os
import re
from functools import partial
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File

DOCS = Path(__file__).parent
ROOT = DOCS.parent
PAGES = {"ARCHITECTURE.md": "architecture.md", "CHANGELOG.md": "changelog.md"}
HOMES = {"README.md": "index.md", "README.zh.md": "zh/index.md"}
COMMANDS = "reference/commands.md"
LANGUAGES = {".py": "python", ".toml": "toml", ".js": "javascript", ".ipynb": "json"}
LINK = re.compile(r"(\]\()([^)\s#]+)(#[^)\s]*)?(\))")
FENCE = re.compile(r"^(```.*?^```$)", re.MULTILINE | re.DOTALL)


def on_files(files: Any, config: Any) -> Any:
    """Adds a page for each file of the repository that a page links to."""
    texts = {page: (ROOT / name).read_text(encoding="utf-8") for name, page in PAGES.items()}
    sources = [(DOCS / file.src_uri, file.content_string) for file in files.documentation_pages()]
    sources += [(ROOT / name, texts[page]) for name, page in PAGES.items()]
    for path, text in sources:
        for _, link, _, _ in LINK.findall(text):
            if (source := file_of(path, link)) is not None and page_of(source).startswith("source/"):
                texts[page_of(source)] = shown(source)
    texts[COMMANDS] = commands()
    for page, text in texts.items():
        files.append(File.generated(config, page, content=text))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """Leads links out of docs/ to the pages that stand for those files."""
    path, uri = DOCS / page.file.src_uri, page.file.src_uri
    for name, generated in PAGES.items():
        if uri == generated:
            path = ROOT / name
    if uri.startswith("source/"):
        return markdown
    pieces = FENCE.split(markdown)
    pieces[::2] = [LINK.sub(partial(led, path, uri), piece) for piece in pieces[::2]]
    return "".join(pieces)


def on_post_page(output: str, page: Any, config: Any) -> str:
    """Says of Chinese pages that they are Chinese."""
    return output.replace('<html lang="en"', '<html lang="zh"', 1) if page.url.startswith("zh/") else output


def led(path: Path, uri: str, link: re.Match[str]) -> str:
    """A link of the file at `path`, as the page at `uri` has it."""
    source = file_of(path, link[2])
    if source is None:
        return link[0]
    target = os.path.relpath(page_of(source), os.path.dirname(uri) or ".")
    return f"{link[1]}{target}{link[3] or ''}{link[4]}"


def file_of(path: Path, link: str) -> Path | None:
    """The file of the repository that a link means, if it needs another address in the site."""
    if "://" in link or link.startswith("mailto:"):
        return None
    source = (path.parent / link).resolve()
    is_outside = ROOT in source.parents and DOCS not in source.parents
    return source if source.is_file() and (is_outside or DOCS not in path.parents) else None


def page_of(source: Path) -> str:
    """The page that stands for a file."""
    if DOCS in source.parents:
        return source.relative_to(DOCS).as_posix()
    name = source.relative_to(ROOT).as_posix()
    return PAGES.get(name) or HOMES.get(name) or f"source/{name}.md"


def shown(source: Path) -> str:
    """A source file as a page."""
    language = LANGUAGES.get(source.suffix, "text")
    name = source.relative_to(ROOT).as_posix()
    head = f"---\nsearch:\n  exclude: true\n---\n\n# `{name}`\n\n"
    return f"{head}````{language}\n{source.read_text(encoding='utf-8')}````\n"


def commands() -> str:
    """All commands with their options, from the command line itself."""
    import typer
    from typer.cli import get_docs_for_click

    from tengen.apps.cli import app

    command = typer.main.get_command(app)
    return get_docs_for_click(obj=command, ctx=typer.Context(command), name="tengen", title="Commands")
