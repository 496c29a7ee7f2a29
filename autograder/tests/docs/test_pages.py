"""Documentation pages are short and reachable, and their commands, options, files and links exist."""

import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
import yaml

from autograder.cli.main import main
from autograder.grading.recorder import Check
from autograder.homework import rubric
from autograder.homework.homework import PACKAGE
from autograder.sandbox.process import Limits
from autograder.tests.files import HOMEWORK

DOCS = PACKAGE / "docs"
README = HOMEWORK.folder / "README.md"
LONGEST = {README: 120}  # lines; every other page has at most 200
PAGES = [README, *sorted(DOCS.rglob("*.md"))]
GITHUB = sorted((HOMEWORK.folder / ".github").glob("*.md")) + sorted(
    (HOMEWORK.folder / ".github" / "ISSUE_TEMPLATE").iterdir()
)
INLINE, LINK = re.compile(r"`([^`\n]+)`"), re.compile(r"\]\(([^)\s]+)\)")
EXAMPLE = "dropout_mask"  # the module that the guides on adding a module create

pages = pytest.mark.parametrize(
    "page", [*PAGES, *GITHUB], ids=lambda page: page.relative_to(HOMEWORK.folder).as_posix()
)


def commands(text: str) -> Iterator[str]:
    """Every `autograder ...` command, in code blocks and in inline code."""
    joined = text.replace("\\\n", " ")
    blocks = [
        *re.findall(r"^ {4,}(.*)$", joined, re.MULTILINE),
        *"".join(re.findall(r"```sh\n(.*?)```", joined, re.DOTALL)).splitlines(),
    ]
    for found in [*blocks, *INLINE.findall(text)]:
        if match := re.match(r"(?:\S*/bin/)?(autograder [a-z].*)", found.strip()):
            yield match[1]


@pages
def test_page_is_short(page: Path) -> None:
    assert len(page.read_text(encoding="utf-8").splitlines()) <= LONGEST.get(page, 200)


@pages
def test_commands_and_options_exist(page: Path) -> None:
    for command in commands(page.read_text(encoding="utf-8")):
        _, name, *rest = re.sub(r"[\[\]']", " ", command).split()
        assert name in main.commands, command
        known = {option for param in main.commands[name].params for option in param.opts} | {"--help"}
        options = {word.partition("=")[0] for word in rest if re.match(r"--?[a-z]", word)}
        assert options <= known, command


@pages
def test_files_exist(page: Path) -> None:
    for name in INLINE.findall(page.read_text(encoding="utf-8")):
        if re.fullmatch(r"(autograder|solutions|assignments|\.ci)/[\w./<>-]*", name) and EXAMPLE not in name:
            assert list(HOMEWORK.folder.glob(re.sub(r"<\w+>", "*", name))), name


@pages
def test_relative_links_exist(page: Path) -> None:
    for target in LINK.findall(page.read_text(encoding="utf-8")):
        path = target.partition("#")[0]
        assert target.startswith("https://") or (page.parent / path).exists(), target


def test_every_page_is_in_the_navigation() -> None:
    listed = re.findall(r"\S+\.md", yaml.safe_dump(yaml.safe_load((DOCS / "mkdocs.yml").read_text())["nav"]))
    assert sorted(listed) == [page.relative_to(DOCS).as_posix() for page in PAGES if page != README]


def test_every_command_is_in_the_reference() -> None:
    page = (DOCS / "reference" / "commands.md").read_text(encoding="utf-8")
    for name, command in main.commands.items():
        assert f"`autograder {name} " in page or f"`autograder {name}`" in page
        for_whom = re.search(r"^ *(For .*\.)$", command.help or "", re.MULTILINE)
        assert for_whom and f"| {for_whom[1]} |" in page, name
        for param in command.params:
            if isinstance(param, click.Option) and name not in ("demo", "build"):
                assert any(option in page for option in param.opts), (name, param.opts)


def test_a_new_command_or_option_replaces_an_old_one() -> None:
    options = [
        param for command in main.commands.values() for param in command.params if isinstance(param, click.Option)
    ]
    assert len(main.commands) + len(options) <= 48


def test_every_key_of_the_rubric_is_in_the_reference() -> None:
    page = (DOCS / "reference" / "rubric.md").read_text(encoding="utf-8")
    models = (rubric.Rubric, rubric.Module, rubric.Group, rubric.Criterion, rubric.LatePolicy, Limits)
    keys = {key for model in models for key in model.model_fields} - {"id", "module"}  # filled in by the loader
    assert [key for key in sorted(keys) if f"`{key}`" not in page] == []


@pytest.mark.parametrize("name", [name for name in vars(Check) if not name.startswith("_")])
def test_every_modifier_of_check_is_in_the_reference(name: str) -> None:
    page = (DOCS / "reference" / "suites.md").read_text(encoding="utf-8")
    assert re.search(rf"`check\.{name}\b", page)


def test_limits_in_the_reference_match_the_rubric() -> None:
    page = (DOCS / "reference" / "rubric.md").read_text(encoding="utf-8")
    for key in Limits.model_fields:
        default, here = (getattr(limits, key) for limits in (Limits(), HOMEWORK.rubric.limits))
        assert f"| `{key}` | {default:g} | {here:g} |" in page
