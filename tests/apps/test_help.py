"""Every command explains itself in one style, and what it prints for --help fits a terminal of 80 columns."""

import re

import pytest
import typer
from rich.cells import cell_len
from typer.testing import CliRunner

from tengen.apps.cli import app

WIDTH = 80


def commands_of(command, *names):
    """A command and all that it holds, by the names that lead to them."""
    yield names, command
    for name, each in getattr(command, "commands", {}).items():
        yield from commands_of(each, *names, name)


COMMANDS = dict(commands_of(typer.main.get_command(app)))
NAMES = [" ".join(names) for names in COMMANDS]


def options_of(command):
    return [each for each in command.params if each.name != "help"]


def is_styled(text):
    """A capital letter or a figure first, a full stop last."""
    return re.fullmatch(r"[A-Z0-9].*\.", text, re.DOTALL) is not None


def test_all_commands_are_walked():
    assert {(), ("analyze",), ("presets",), ("lab", "puct"), ("games-db", "list"), ("records", "check")} <= set(
        COMMANDS
    )


@pytest.mark.parametrize("names", COMMANDS, ids=NAMES)
def test_a_command_has_a_sentence_that_fits_a_line_of_the_list(names):
    summary, *_ = COMMANDS[names].help.split("\n\n")
    assert is_styled(summary), summary
    assert ". " not in summary
    assert len(summary) <= 64, summary  # beside the longest name


@pytest.mark.parametrize("names", COMMANDS, ids=NAMES)
def test_every_option_is_explained(names):
    for option in options_of(COMMANDS[names]):
        assert is_styled(option.help or ""), f"{option.name}: {option.help}"


@pytest.mark.parametrize("names", COMMANDS, ids=NAMES)
def test_help_fits_and_nothing_of_it_is_cut(names):
    printed = CliRunner().invoke(app, [*names, "--help"], env={"COLUMNS": str(WIDTH)}).output
    assert [line for line in printed.splitlines() if cell_len(line) > WIDTH] == []
    there = set(printed.split())
    texts = [COMMANDS[names].help, *(option.help for option in options_of(COMMANDS[names]))]
    assert [word for text in texts for word in text.replace("`", "").split() if word not in there] == []
