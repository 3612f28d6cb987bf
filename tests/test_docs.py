"""The documents keep their word: their code runs, what they quote is what stands there, links and pictures exist.

A page says before a block what is not quick:

    <!-- long -->                        the long tests run it
    <!-- not run: why -->                nobody does
    <!-- not run (serve, pip): why -->   the same for some commands of the block
    <!-- source: FILE NAME -->           it is that function or class of that file
    <!-- part of: FILE -->               its lines stand in that file, in this order

A page in Chinese has the code of its page in English, and is not run again. Matches are cut to two games, trainings to
seconds: what is tested is that a command works, not what it finds.
"""

from __future__ import annotations

import ast
import os
import re
import shlex
import shutil
import subprocess
import sys
import textwrap
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

import pytest

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PAGES = sorted([ROOT / "README.md", ROOT / "README.zh.md", *DOCS.rglob("*.md")])
CHINESE = {page: DOCS / page.relative_to(DOCS / "zh") for page in PAGES if DOCS / "zh" in page.parents} | {
    ROOT / "README.zh.md": ROOT / "README.md"
}
ENGLISH = [page for page in PAGES if page not in CHINESE]

COMMENT = r"(?P<comments>(?:^ *<!-- [^\n]*? -->\n)*)"
BLOCK = re.compile(
    COMMENT + r"^(?P<indent> *)```(?P<kind>\w*)\n(?P<text>.*?)^(?P=indent)```$", re.MULTILINE | re.DOTALL
)
MARK = re.compile(r"<!-- (long|not run|source|part of)(?: \(([^)]*)\))?(?:: (.*?))? -->")
LINK = re.compile(r'(?<!`)\]\(([^)\s]+)\)|<img src="([^"]+)"')
PICTURE = re.compile(r"\.(png|svg)$")

# What no page needs to mark.
NEVER = {
    r"^(pip|make|python|python3|ray|jupyter|chromium)\b": "it installs, or is a bench, or outlives the test",
    r"^tengen reproduce": "it takes minutes; tests/apps/test_reproduce*.py run it in small",
    r"^tengen serve|--browser": "it serves until it is stopped",
    r"^tengen records|^tengen train (sl9|rl9|value9)|--cluster": "it takes hours, or a cluster; see tests/learn",
}
LONG = [
    r"^tengen (train|match|tournament|bench)\b",
    r"^tengen lab .*(--growth|--worlds|--prove|--runs 100|nobody|1000000)",
    r"^tengen lab (tictactoe|reversi)",
    r"\balphago:",
]
SHORTER = {
    r"--games \d+": "--games 2",
    r"--minutes \S+": "--minutes 0.1",
    r"^(tengen train (?!.*--minutes).*)": r"\1 --minutes 0.1",
    r"^(tengen bench) rules": r"\1 limits",
}
PIPED = re.compile(r"tengen (gtp|gomocup|uci|lab reversi)\b")  # these read a real pipe, so they run as processes
QUICK, IS_LONG, NOT_RUN = "quick", "long", "not run"


@dataclass(frozen=True)
class Block:
    """Code of a page, and what the page says of it."""

    page: Path
    line: int
    kind: str
    text: str
    marks: tuple[tuple[str, str, str], ...]  # what, of which commands, why or from where

    def marked(self, what: str) -> list[tuple[str, str]]:
        return [(which, words) for name, which, words in self.marks if name == what]

    def pace(self, code: str) -> str:
        """Whether code of this block, a command or all of it, is quick, long, or not run."""
        words = set(code.split()[:2]) if self.kind == "sh" else set()
        for which, _ in self.marked("not run"):
            if not which or words & set(which.split(", ")):
                return NOT_RUN
        if any(re.search(pattern, code, re.MULTILINE) for pattern in NEVER):
            return NOT_RUN
        if self.marked("source") or self.marked("part of"):
            return NOT_RUN
        for which, _ in self.marked("long"):
            if not which or words & set(which.split(", ")):
                return IS_LONG
        return IS_LONG if any(re.search(pattern, code, re.MULTILINE) for pattern in LONG) else QUICK


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def blocks_of(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    return [
        Block(
            page,
            text.count("\n", 0, found.start("kind")) + 1,
            found["kind"],
            textwrap.dedent(found["text"]),
            tuple((what, which or "", words or "") for what, which, words in MARK.findall(found["comments"])),
        )
        for found in BLOCK.finditer(text)
    ]


def commands_of(text: str) -> list[str]:
    """The commands of a shell block, without comments."""
    lines = [shlex.join(shlex.split(line, comments=True)) for line in text.splitlines()]
    return [re.sub(r"^\S*/tengen ", "tengen ", line) for line in lines if line]


def steps_of(page: Path, paces: tuple[str, ...]) -> list[tuple[str, str, int]]:
    """What is to be run of a page, in order: its kind, the code, its line."""
    steps = []
    for block in blocks_of(page):
        if block.kind not in ("sh", "python"):
            continue
        for code in commands_of(block.text) if block.kind == "sh" else [block.text]:
            if block.pace(code) in paces:
                steps.append((block.kind, code, block.line))
    return steps


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Where a reader stands: beside the examples, with some games on the disk."""
    from tengen.games import load_game
    from tengen.records.files import write_records
    from tengen.records.record import Record

    shutil.copytree(ROOT / "examples", tmp_path / "examples", ignore=shutil.ignore_patterns("__pycache__"))
    moves = ["h8", "i9", "g9", "i7", "i8", "g8", "h7", "h9", "f8"]
    game = load_game("gomoku")
    records = []
    for count in range(1, 10):
        position = game.start()
        for move in moves[:count]:
            position = position.play(move)
        records += [Record.of(position, players) for players in (("uct:playouts=10", "random"), ("random", "strong"))]
    records.append(Record.of(load_game("reversi").start().play("f5").play("d6")))
    write_records(tmp_path / "games.sgf", records)
    shutil.copy(tmp_path / "games.sgf", tmp_path / "some.sgf")
    write_records(tmp_path / "more.psq", records[:1])
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    return tmp_path


def run_command(command: str, where: str) -> None:
    """Runs a command in this process, with nobody at the keyboard."""
    from typer.testing import CliRunner

    from tengen.apps.cli import app

    words = shlex.split(command)
    if words[0] == "cp":
        shutil.copy(words[1], words[2])
        return
    assert words[0] == "tengen", f"{where}: {command!r} is not ours; mark the block as not run, and say why"
    if PIPED.match(command):
        last_words = "resign\n" if words[1] == "lab" else "quit\nEND\n"
        told = {"input": last_words, "capture_output": True, "text": True, "timeout": 600}
        process = subprocess.run([sys.executable, "-m", *words], **told)
        assert process.returncode == 0, f"{where}: {command}\n{process.stdout[-1000:]}\n{process.stderr[-1000:]}"
        return
    result = CliRunner().invoke(app, words[1:], input="y\n")
    assert result.exit_code == 0, f"{where}: {command}\n{result.output[-2000:]}\n{result.exception!r}"


def run_steps(page: Path, paces: tuple[str, ...]) -> None:
    for kind, code, line in steps_of(page, paces):
        where = f"{name_of(page)}:{line}"
        if kind == "python":
            exec(compile(code, where, "exec"), {"__name__": "__main__"})
            continue
        for pattern, shorter in SHORTER.items():
            code = re.sub(pattern, shorter, code)
        run_command(code, where)


@pytest.mark.parametrize("page", [page for page in ENGLISH if steps_of(page, (QUICK,))], ids=name_of)
def test_quick_code_runs(page, folder):
    run_steps(page, (QUICK,))


@pytest.mark.long
@pytest.mark.parametrize("page", [page for page in ENGLISH if steps_of(page, (IS_LONG,))], ids=name_of)
def test_long_code_runs(page, folder, request):
    for program in ("gnugo", "gtp-rhino"):
        if any(program in code for _, code, _ in steps_of(page, (IS_LONG,))):
            request.getfixturevalue(program.replace("-", "_"))
    run_steps(page, (QUICK, IS_LONG))


def test_what_is_not_run_has_a_reason():
    for page in PAGES:
        for block in blocks_of(page):
            assert all(words for _, words in block.marked("not run")), f"{name_of(page)}:{block.line}: not run: why?"
            if block.kind == "python":
                compile(block.text, name_of(page), "exec")


def definition(path: Path, name: str) -> str:
    """A function or class as it stands in its file."""
    text = path.read_text(encoding="utf-8")
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name == name:
            first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
            return textwrap.dedent("\n".join(text.splitlines()[first - 1 : node.end_lineno])) + "\n"
    raise AssertionError(f"there is no {name} in {path}")


def bare_lines(text: str) -> list[str]:
    """Lines without comments and spaces."""
    return [line for line in (re.sub(r"\s*#.*| +", "", line) for line in text.splitlines()) if line]


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_quoted_source_is_as_it_stands(page):
    for block in blocks_of(page):
        for _, words in block.marked("source"):
            file, name = words.split()
            assert block.text == definition(ROOT / file, name), f"{name_of(page)}:{block.line}: {words} has changed"
        for _, file in block.marked("part of"):
            rest = iter(bare_lines((ROOT / file).read_text(encoding="utf-8")))
            for line in bare_lines(block.text):
                assert line in rest, f"{name_of(page)}:{block.line}: {line!r} is not in {file}, or not there"


@pytest.mark.parametrize("page", CHINESE, ids=name_of)
def test_chinese_pages_keep_step(page):
    """Code and pictures are those of the page in English; each page leads to the other."""
    original = CHINESE[page]
    for kind in ("sh", "python"):
        ours = [code for block in blocks_of(page) if block.kind == kind for code in code_lines(block)]
        theirs = [code for block in blocks_of(original) if block.kind == kind for code in code_lines(block)]
        assert ours == theirs
    assert pictures_of(page) == pictures_of(original)
    assert original in targets_of(page)
    is_theirs = original.relative_to(ROOT).as_posix() == "docs/labs.md"
    assert page in targets_of(original) or is_theirs, f"{name_of(original)} does not lead to {name_of(page)}"


def code_lines(block: Block) -> list[str]:
    return commands_of(block.text) if block.kind == "sh" else bare_lines(block.text)


# Links and pictures


def outside_code(page: Path) -> str:
    return BLOCK.sub("", page.read_text(encoding="utf-8"))


def links_of(page: Path) -> list[str]:
    return [link or image for link, image in LINK.findall(outside_code(page))]


def targets_of(page: Path) -> list[Path]:
    """The files that a page links to."""
    return [(page.parent / unquote(link.partition("#")[0])).resolve() for link in links_of(page) if "://" not in link]


def pictures_of(page: Path) -> list[Path]:
    return [target for target in targets_of(page) if PICTURE.search(target.name)]


def anchors_of(page: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub and the site make them."""
    headings = re.findall(r"^#+ (.+)$", outside_code(page), re.MULTILINE)
    bare = [re.sub(r"[^\w\- ]", "", re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading).lower()) for heading in headings]
    return {heading.strip().replace(" ", "-") for heading in bare}


@pytest.mark.parametrize("page", [*PAGES, ROOT / "ARCHITECTURE.md", ROOT / "CHANGELOG.md"], ids=name_of)
def test_links_lead_somewhere(page):
    for link in links_of(page):
        if "://" in link:
            assert link.startswith(("https://", "http://127.0.0.1")), f"{name_of(page)}: {link}"
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / unquote(path)).resolve() if path else page
        is_generated = target == DOCS / "reference" / "commands.md"
        assert target.is_file() or is_generated, f"{name_of(page)}: there is no {link}"
        if anchor and target.suffix == ".md":
            assert unquote(anchor) in anchors_of(target), f"{name_of(page)}: {link} has no such heading"


def test_every_picture_is_shown_and_has_its_command():
    """docs/pictures.md names the command of each; what screenshots.py makes is a row of its table."""
    sys.path.insert(0, str(ROOT / "bench"))
    shots = re.findall(r'^    "([\w-]+)": Shot\(', (ROOT / "bench" / "screenshots.py").read_text(), re.MULTILINE)
    named = (DOCS / "pictures.md").read_text(encoding="utf-8")
    shown = {target for page in PAGES for target in pictures_of(page)}
    for picture in sorted([*DOCS.rglob("*.png"), *DOCS.rglob("*.svg")]):
        path = picture.relative_to(DOCS).as_posix()
        assert picture in shown, f"no page shows {path}"
        is_shot = picture.parent.name == "img" and picture.stem in [*shots, "games"]
        assert is_shot or f"`{path}`" in named, f"docs/pictures.md does not say which command makes {path}"


def picture_commands() -> dict[str, str]:
    """The pictures that the same command makes again to the byte: neither a net nor a clock has a say in them."""
    rows = re.findall(r"^\| `(images/\S+)` \| `(tengen lab .*)` \|$", (DOCS / "pictures.md").read_text(), re.MULTILINE)
    return {
        path: command
        for path, command in rows
        if not re.search("--growth|--evaluator connect4|figure (training|improver)", command)
    }


@pytest.mark.parametrize("path", picture_commands())
def test_pictures_are_as_they_are_made(path, folder):
    command = picture_commands()[path]
    assert f"--out docs/{path}" in command
    run_command(command.replace(f"--out docs/{path}", "--out again.svg"), "docs/pictures.md")
    assert (folder / "again.svg").read_text() == (DOCS / path).read_text(), f"{command} makes another picture now"


# The site


def test_site_builds_without_a_warning_and_loads_nothing_from_elsewhere(tmp_path):
    pytest.importorskip("mkdocs", reason="the site is not built without mkdocs-material")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(tmp_path / "site")]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    result = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=600)
    assert result.returncode == 0, result.stderr[-3000:]
    pages = list((tmp_path / "site").rglob("*.html"))
    assert len(pages) > 40
    for page in pages:
        text = page.read_text(encoding="utf-8")
        loaded = re.findall(r'<(?:script|img|iframe)[^>]*\ssrc="(https?:)?//|<link[^>]*\shref="(https?:)?//', text)
        assert not loaded, f"{page.name} loads from elsewhere"
        assert 'lang="zh"' in text[:200] or tmp_path / "site" / "zh" not in page.parents
