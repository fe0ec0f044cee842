"""Every command that README.md, CONTRIBUTING.md and docs/ show in a block is run as it stands there, in a folder
that holds what the reader of its page has, and prints what the page shows below it.

The few that are not run say why. What is shown without a line ``...`` is all that is printed, and renewed by
``--renew``: read the difference.
"""

from __future__ import annotations

import gzip
import json
import re
import shutil
import socket
import subprocess
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import forked
import pytest
from console import (
    BLOCK,
    COMMAND,
    PAGES,
    ROOT,
    commands,
    environment,
    lines_match,
    missing,
    run,
    write,
)

import diagnose
from diagnose.compiling.build import build

pytest.importorskip("torch")

SOURCE = Path(diagnose.__file__).parents[1]
TRACES = ROOT / "tests" / "traces"
SHELLS = ("sh", "console")
#: Where the pages say that the service listens. Here it listens on a free port.
ADDRESS = "127.0.0.1:8000"

#: Pages, or what stands on them from a heading on, whose commands another module runs, with the files beside.
ELSEWHERE = {
    "CONTRIBUTING.md\n## Recipes\n": "tests/test_contributing_recipes.py",
    "docs/contributing-a-case.md\n": "tests/casebase/test_contributing.py",
    "docs/remembering.md\n": "tests/memory/test_remember.py",
    "docs/operating.md\n": "tests/memory/test_remember.py",
}
#: Commands that nothing runs, and why.
NOT_RUN = {
    "python3 -m venv .venv && .venv/bin/pip install . && "
    ".venv/bin/diagnose < tests/traces/easyedit-memit-delta.txt": (
        "asks a package index; scripts/test-lowest builds and installs the wheel"
    ),
    "pip install '.[docs]'": "the same",
    "sphinx-build -W docs build/site": "tests/test_site.py builds the site",
    "scripts/test": "runs all tests, this one too",
    "scripts/test fast": "runs the tests that other cores run now",
    ".ci/run": "runs all tests, this one too",
    "docker build -t diagnose . && "
    "docker run --read-only --tmpfs /tmp -p 127.0.0.1:8000:8000 diagnose": (
        "needs Docker's daemon, and a base image from a registry"
    ),
    'eval "$(_DIAGNOSE_COMPLETE=bash_source diagnose)"': (
        "is for the shell that people type into: tests/test_completion.py completes in a real one"
    ),
    'eval "$(_DIAGNOSE_COMPLETE=zsh_source diagnose)"': "the same, where there is a zsh",
    "_DIAGNOSE_COMPLETE=fish_source diagnose | source": "the same, where there is a fish",
}
#: Commands that go on until they are ended, and how they are told another port.
SERVING = {
    "diagnose serve": "--port {port}",
    "gunicorn --config python:diagnose.web.deployment "
    "'diagnose.web:create_app(max_bytes=20_000_000)'": "--bind 127.0.0.1:{port}",
}
NO_GPU = "NOT RUN: too few GPUs"
#: Commands that rightly end otherwise than well on this machine and these files: status, and what is printed.
ENDS = {
    "diagnose runs/": (1, "kinds of failure"),
    "diagnose train.log other.log": (1, "kinds of failure"),
    "diagnose --glob '*.log' --glob '*.gz' jobs other.log": (1, "kind"),
    "diagnose --format csv -o failures.csv runs/": (1, ""),
    "diagnose check .": (1, "new.py"),
    "diagnose check --format sarif -o check.sarif src": (0, ""),
    "diagnose run --verify=traceback.txt train.py": (2, NO_GPU),
    "diagnose run --verify=traceback.txt train.py --its --args": (2, NO_GPU),
    "diagnose run --verify=cross-shard-op train.py --its --args": (2, NO_GPU),
    "diagnose run --verify train.py --its --args": (2, NO_GPU),
    "diagnose kb evaluate reports/ --fail-under top-1=0.85 --fail-over calibration-error=0.15": (
        1,
        "top-1",
    ),
}
#: What is printed, but is another thing the next time.
VOLATILE = re.compile(r"(?<=case base )[0-9a-f]{12}|\d+(?= s\)$)", re.MULTILINE)

TRAIN = """\
import torch
from torch import nn

model = nn.Linear(4, 3).to("cuda")
print(model(torch.randn(8, 4, device="cuda")).shape)
"""
ISSUE = """\
Since I replaced the classification head, training dies with "Expected all tensors to be on the same device". I load
the model, call model.to("cuda"), and then I set model.classifier = nn.Linear(768, 10). With the old head it trains.
"""
#: The reports of docs/evaluating.md: of which trace, and what its label says.
LABELS: dict[str, dict[str, object]] = {
    "easyedit-memit-delta": {
        "cause": "cross-shard-op",
        "certainty": "confirmed",
        "fix_kinds": ["move-tensor-at-line"],
        "family": "device-placement",
        "exception": "RuntimeError",
        "devices": ["cuda:1", "cuda:0"],
        "innermost": {"file": "reproduce.py", "line": 54, "function": "edit_output_fn"},
        "libraries": ["transformers", "torch"],
        "culprit": {"file": "reproduce.py", "line": 54},
    },
    "adapters-dataparallel": {"cause": "dataparallel-replica-state"},
    "llms-from-scratch-out-head": {"cause": "generator-device", "also_ok": ["index-device"]},
    "peft-mistral-offloaded": {"cause": "meta-tensor", "also_ok": ["offloaded-to-cpu"]},
}


class Command(NamedTuple):
    """A command of a page, the status that its block states, and what is shown below it, from where to where."""

    text: str
    fails: bool
    shown: str
    start: int
    end: int


def blocks(path: Path) -> Iterator[re.Match[str]]:
    """The blocks of a page but those that another module runs."""
    page = path.read_text(encoding="utf-8")
    name = f"{path.relative_to(ROOT)}\n"
    ends = [page.index(place.removeprefix(name)) for place in ELSEWHERE if place.startswith(name)]
    yield from BLOCK.finditer(page, 0, min(ends, default=len(page)))


def found(block: re.Match[str]) -> Iterator[Command]:
    """The commands of a block: the lines of ``sh``; those behind a ``$``, with what they print, of ``console``."""
    language, fails, text = block.groups()
    if language == "console":
        for one in COMMAND.finditer(text):
            start, end = (block.start(3) + at for at in one.span("shown"))
            yield Command(_joined(one["command"]), bool(fails), one["shown"], start, end)
    elif language == "sh":
        for line in _joined(text).splitlines():
            if line := re.sub(r"(^|\s+)# .*", "", line):
                yield Command(line, bool(fails), "", 0, 0)


def _joined(text: str) -> str:
    return re.sub(r"\\\n\s*", "", text)


ALL = {path: [one for block in blocks(path) for one in found(block)] for path in PAGES}


@pytest.fixture(scope="module")
def service(casebase_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of `diagnose serve`, for the pages whose commands ask it."""
    folder = tmp_path_factory.mktemp("service")
    bin = commands(folder / "bin", "diagnose")
    with served(folder, bin, "diagnose serve", casebase_path) as (address, _):
        yield address


@pytest.fixture
def folder(casebase_path: Path) -> Iterator[Path]:
    """What the readers of the pages have: logs, scripts, a home, the checkout; at a path so short as
    theirs, for what is printed of it is cut."""
    made = Path(tempfile.mkdtemp(prefix="home"))
    yield _furnished(made, casebase_path)
    shutil.rmtree(made)


def _furnished(made: Path, casebase_path: Path) -> Path:
    for name in ("tests", "benchmarks", "training"):
        (made / name).symlink_to(ROOT / name)
    shutil.copy(casebase_path, made / "casebase.sqlite")
    one, other = TRACES / "easyedit-memit-delta.txt", TRACES / "causes" / "sensor-vae-noise.txt"
    for name in ("runs", "jobs", "src", "package", "my_package", "reports", "FOLDER..."):
        (made / name).mkdir()
    for name in ("traceback.txt", "train.log", "runs/1.log", "runs/2.log"):
        shutil.copy(one, made / name)
    for name in ("other.log", "runs/3.log", "jobs/4.log"):
        shutil.copy(other, made / name)
    (made / "huge.log.gz").write_bytes(gzip.compress(one.read_bytes()))
    (made / "issue.txt").write_text(ISSUE)
    for name in ("train.py", "model.py", "src/train.py", "FOLDER.../train.py"):
        (made / name).write_text(TRAIN)
    (made / "new.py").write_text(TRAIN.replace(', device="cuda"', ""))
    for name in ("package", "my_package"):
        (made / name / "train.py").write_text(TRAIN)
    cell = {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": []}
    notebook = {"cells": [cell | {"source": TRAIN}], "metadata": {}, "nbformat": 4}
    (made / "notebook.ipynb").write_text(json.dumps(notebook | {"nbformat_minor": 4}))
    (made / "job").mkdir()
    for name in ("OLD", "NEW"):
        (made / name).symlink_to(ROOT)
    return made


def _kb(folder: Path) -> Path:
    """The source of the case base without incidents, which take long to compile."""

    def left_out(name: str, names: list[str]) -> list[str]:
        return names if Path(name).name == "cases" else []

    return shutil.copytree(ROOT / "kb", folder / "kb", ignore=left_out)


def _reports(folder: Path) -> None:
    """What docs/evaluating.md measures, and its earlier case base."""
    for name, label in LABELS.items():
        shutil.copy(TRACES / f"{name}.txt", folder / "reports")
        (folder / "reports" / f"{name}.json").write_text(json.dumps(label))
    (folder / "reports" / "shapes.txt").write_text(
        "RuntimeError: mat1 and mat2 shapes cannot be multiplied (8x4 and 3x2)\n"
    )
    (folder / "reports" / "shapes.json").write_text(
        '{"cause": "not-device", "family": "shape-mismatch"}'
    )
    kb = _kb(folder)
    for name in ("beliefs.toml", "corrections.toml"):
        speaks = re.compile(r"^\[dataparallel-replica-state\]\n((?!\[).*\n)*", re.MULTILINE)
        text = (kb / name).read_text(encoding="utf-8")
        (kb / name).write_text(speaks.sub("", text), encoding="utf-8")
    build(kb, folder / "earlier.sqlite")


@contextmanager
def served(folder: Path, bin: Path, command: str, casebase: Path) -> Iterator[tuple[str, Path]]:
    """A command that goes on, listening on a free port: its address, and the file of what it prints."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    printed = folder / "printed.txt"
    with printed.open("wb") as file:
        process = subprocess.Popen(
            ["sh", "-c", f"exec {command} {SERVING[command].format(port=port)}"],
            stdout=file,
            stderr=subprocess.STDOUT,
            cwd=folder,
            env=environment(bin, SOURCE, DIAGNOSE_CASEBASE=str(casebase)),
        )
        try:
            _wait(f"http://127.0.0.1:{port}/healthz", process)
            yield f"127.0.0.1:{port}", printed
        finally:
            process.terminate()
            process.wait()


def _wait(address: str, process: subprocess.Popen[bytes]) -> None:
    while True:  # a busy machine starts it late: pytest's own timeout ends what hangs
        assert process.poll() is None, "it ended"
        try:
            urllib.request.urlopen(address, timeout=5).close()
            return
        except OSError:
            time.sleep(0.1)


@pytest.mark.parametrize("path", [path for path in PAGES if ALL[path]], ids=lambda path: path.stem)
def test_every_command_prints_what_its_page_shows(
    path: Path, folder: Path, request: pytest.FixtureRequest, renew: bool
) -> None:
    bin = commands(
        folder / "bin", "diagnose", "gunicorn", python="", torchrun="torch.distributed.run",
        accelerate="accelerate.commands.accelerate_cli", by=forked.python(),
    )  # fmt: skip
    variables = {
        "DIAGNOSE_CASEBASE": str(folder / "casebase.sqlite"),
        "HOME": str(folder),
        "CUDA_VISIBLE_DEVICES": "",
    }
    if path.stem == "evaluating":
        _reports(folder)
    page, news = path.read_text(encoding="utf-8"), []
    for block in blocks(path):
        if block[1] == "python" and block[3].startswith("# "):
            (folder / block[3].partition(",")[0].removeprefix("# ")).unlink(missing_ok=True)
            write(folder, block[3])
        for one in found(block):
            if one.text in NOT_RUN:
                continue
            if one.text in SERVING:
                casebase = Path(variables["DIAGNOSE_CASEBASE"])
                with served(folder, bin, one.text, casebase) as (address, printed):
                    output = printed.read_text().replace(address, ADDRESS)
            else:
                command, status = one.text, int(one.fails)
                if ADDRESS in command:
                    command = command.replace(ADDRESS, request.getfixturevalue("service"))
                status, said = ENDS.get(one.text, (status, ""))
                output = run(folder, command, bin, SOURCE, status, **variables)
                assert said in output, f"$ {command}\n{output}"
            if not one.shown.strip():
                continue
            if _whole(one.shown):
                if renew and not lines_match(output, one.shown):
                    news.append((one, VOLATILE.sub("...", output).rstrip() + "\n"))
                else:
                    assert lines_match(output, one.shown), f"$ {one.text}\n{output}"
            else:
                lacks = list(missing(output, one.shown))
                assert not lacks, f"$ {one.text}\n{output}\nshows no {lacks}"
    for one, now in reversed(news):
        page = page[: one.start] + now + page[one.end :]
    if news:
        path.write_text(page, encoding="utf-8")


def _whole(shown: str) -> bool:
    return "..." not in (line.strip() for line in shown.splitlines())


def test_what_is_not_run_is_there_and_says_why() -> None:
    shown = [one.text for some in ALL.values() for one in some]
    assert len(shown) > 80
    for listed in (*NOT_RUN, *SERVING, *ENDS):
        assert listed in shown
    assert all(NOT_RUN.values())
    assert len(NOT_RUN) < len(set(shown)) / 6
    for place, module in ELSEWHERE.items():
        assert Path(place.partition("\n")[0]).name in (ROOT / module).read_text(encoding="utf-8")


def test_every_block_says_what_it_holds() -> None:
    for path in PAGES:
        page = path.read_text(encoding="utf-8")
        fences = re.findall(r"^```(.*)$", page, re.MULTILINE)
        assert all(fences[::2]) and not any(fences[1::2]), path
        for language, _, text in BLOCK.findall(page):
            prompts = re.search(r"^(\$ |(diagnose|python|pip) [\w-])", text, re.MULTILINE)
            assert language in SHELLS or prompts is None, f"{path.name}: {text}"
