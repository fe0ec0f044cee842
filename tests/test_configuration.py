"""What a project sets in its pyproject.toml, and what cannot be set there."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from diagnose.commands import COMMANDS
from diagnose.configuration import _SETTINGS, ConfigurationError, configured, defaults

TRACE = (Path(__file__).parent / "traces/easyedit-memit-delta.txt").read_bytes()
CODE = """\
import torch

x = torch.ones(3)
model = torch.nn.Linear(3, 3).cuda()
model(x)
"""


def run(folder: Path, *args: str, stdin: bytes = b"") -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [sys.executable, "-m", "diagnose", *args], input=stdin, capture_output=True, cwd=folder
    )
    return subprocess.CompletedProcess(
        done.args, done.returncode, done.stdout.decode(), done.stderr.decode()
    )


def write(folder: Path, text: str) -> None:
    (folder / "pyproject.toml").write_text(text, encoding="utf-8")


def test_the_nearest_file_that_sets_something_counts(tmp_path: Path) -> None:
    inner = tmp_path / "package"
    inner.mkdir()
    write(tmp_path, "[tool.diagnose]\nlang = 'zh'\n")
    write(inner, "[project]\nname = 'package'\n")
    assert configured(inner) == tmp_path / "pyproject.toml"
    assert all(one["lang"] == "zh" for one in defaults(COMMANDS, inner).values())
    assert (
        configured(tmp_path.parent) is None
        or tmp_path not in (configured(tmp_path.parent) or Path()).parents
    )


def test_settings_are_defaults_and_options_go_before_them(tmp_path: Path) -> None:
    write(tmp_path, "[tool.diagnose]\nlang = 'zh'\n[tool.diagnose.check]\npreview = true\n")
    (tmp_path / "train.py").write_text(CODE)
    assert (
        "因为" in run(tmp_path, stdin=TRACE).stdout or "原因" in run(tmp_path, stdin=TRACE).stdout
    )
    assert "Because" in run(tmp_path, "--lang", "en", stdin=TRACE).stdout
    assert run(tmp_path, "check", "train.py").returncode == 1
    assert run(tmp_path, "check", "--ignore", "input-not-moved", "train.py").returncode == 0


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[tool.diagnose.check]\noutput = 'x'\n", "has no output"),
        ("[tool.diagnose.check]\nunsafe-fixes = true\n", "has no unsafe-fixes"),
        ("[tool.diagnose.check]\nselect = 'all'\n", "is a list of texts"),
        ("[tool.diagnose.check]\npreview = 1\n", "is true or false"),
        ("[tool.diagnose]\ncolour = 'red'\n", "has no colour"),
        ("[tool.diagnose\n", "cannot be read"),
        ("x = " + "[" * 9000 + "# tool.diagnose", "cannot be read"),
    ],
)
def test_what_there_is_not_is_refused_with_the_files_name(
    tmp_path: Path, text: str, said: str
) -> None:
    write(tmp_path, text)
    with pytest.raises(ConfigurationError, match=said) as told:
        defaults(COMMANDS, tmp_path)
    assert str(tmp_path / "pyproject.toml") in str(told.value)
    done = run(tmp_path, stdin=TRACE)
    assert done.returncode == 2
    assert said in done.stderr


def test_a_value_that_an_option_does_not_take_is_refused(tmp_path: Path) -> None:
    write(tmp_path, "[tool.diagnose]\nlang = 'fr'\n")
    done = run(tmp_path, stdin=TRACE)
    assert done.returncode == 2
    assert "'fr'" in done.stderr


def test_the_example_of_the_documentation_sets_everything(tmp_path: Path) -> None:
    page = (Path(__file__).parents[1] / "docs" / "configuration.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"^```toml\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    write(tmp_path, example)
    found = defaults(COMMANDS, tmp_path)
    for command, settings in _SETTINGS.items():
        if command:
            assert {parameter for _, parameter in settings.values()} <= set(found[command])
    assert found["answer"]["lang"] == "zh"


def test_a_folder_names_no_database(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(
        '[tool.diagnose]\nstore = "postgresql://elsewhere/x"\n'
    )
    with pytest.raises(ConfigurationError, match="is a file"):
        defaults({"answer": None}, tmp_path)


def test_a_store_is_named_from_the_file_on(tmp_path: Path) -> None:
    (tmp_path / "below").mkdir()
    (tmp_path / "pyproject.toml").write_text('[tool.diagnose]\nstore = "ours.sqlite"\n')
    found = defaults({"answer": None}, tmp_path / "below")
    assert found["answer"]["store"] == str(tmp_path / "ours.sqlite")
