"""The tutorial works as written."""

import html
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from autograder.homework.homework import PACKAGE
from autograder.tests.files import HOMEWORK

PAGE = (PACKAGE / "docs" / "tutorial" / "first-class.md").read_text(encoding="utf-8")


def _plain(text: str) -> str:
    words = " ".join(html.unescape(re.sub(r"<[^>]*>|`", " ", text)).split())
    return re.sub(r" ([.:,])", r"\1", words)


@pytest.mark.slow
def test_commands_print_what_the_tutorial_shows(tmp_path: Path) -> None:
    blocks = [block.replace("\n    ", "\n").strip() for block in re.findall(r"(?:^    .*\n)+", PAGE, re.MULTILINE)]
    clone = tmp_path / "clone"
    subprocess.run(["git", "clone", "-q", str(HOMEWORK.folder), str(clone)], check=True)
    environment = os.environ | {"PYTHONPATH": str(clone)}

    def run(command: str) -> str:
        command = command.replace("autograder ", f"{sys.executable} -m autograder ")
        done = subprocess.run(command, shell=True, cwd=clone, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, (command, done.stderr)
        return done.stdout + done.stderr

    said = ""
    for block in blocks[1:]:
        if block.startswith(("autograder ", "mkdir ")):
            said = run("\n".join(line for line in block.splitlines()))
        elif block.startswith("var = "):
            path = clone / "class" / "grace" / "layernorm.py"
            path.write_text(re.sub(r"^( *)var = .*", rf"\1{block}", path.read_text(), count=1, flags=re.MULTILINE))
        elif block.startswith("charge: "):
            path = clone / "rubric.yaml"
            path.write_text(re.sub(r"^charge: \w+", block, path.read_text(), flags=re.MULTILINE))
        else:
            page = clone / "results" / "feedback" / "grace.html"
            shown = _plain(said + (page.read_text() if page.exists() else ""))
            for line in block.splitlines():
                assert _plain(line.removesuffix("...")) in shown, line
