"""The READMEs show what the command really prints."""

import re
import shlex
from pathlib import Path

import pytest

from gradaccum import cli

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("name", ["README.md", "README.ar.md"])
def test_the_command_prints_what_is_shown(name, capsys):
    (block,) = re.findall(r"```console\n(.*?)```", (ROOT / name).read_text(encoding="utf-8"), re.DOTALL)
    *_, last = block.split("$ ")
    command, _, shown = last.partition("\n")
    assert cli.main(shlex.split(command)[1:]) == 0
    assert capsys.readouterr().out.rstrip() == shown.rstrip()


@pytest.mark.parametrize("name", ["README.md", "README.ar.md"])
def test_every_file_that_is_linked_is_there(name):
    text = (ROOT / name).read_text(encoding="utf-8")
    targets = [t for t in re.findall(r"\]\(([^)#]+)\)", text) if "://" not in t]
    assert targets
    assert [target for target in targets if not (ROOT / target).exists()] == []
