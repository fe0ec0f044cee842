"""``diagnose kb evaluate`` as its users run it, on the recorded traces."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from evaluation.samples import LABELS, SHAPES, labelled, write

from diagnose.evaluation import runs
from diagnose.evaluation.labels import Label, Labelled


def run(*args: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "diagnose", "kb", "evaluate", *args],
        capture_output=True,
        text=True,
        cwd=cwd,
        timeout=120,
    )


@pytest.fixture(scope="module")
def mine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return labelled(tmp_path_factory.mktemp("evaluate") / "mine").parent


@pytest.fixture(scope="module")
def document(mine: Path) -> dict[str, Any]:
    done = run("mine", "--format", "json", "--output", "run.json", "-o", "c.svg", cwd=mine)
    assert (done.returncode, done.stderr) == (0, "")
    assert (mine / "run.json").read_text() == done.stdout
    assert (mine / "c.svg").read_text().startswith("<svg ")
    return json.loads(done.stdout)


def test_figures_agree_with_those_worked_out_from_the_answers(
    mine: Path, document: dict[str, Any]
) -> None:
    """From what ``diagnose --format json`` prints, with none of the package's own code."""
    files = [f"mine/{name}.txt" for name in LABELS]
    command = [sys.executable, "-m", "diagnose", "--format", "json", *files]
    printed = subprocess.run(command, capture_output=True, text=True, cwd=mine, timeout=120)
    first, strict, ranks, gaps = [], [], [], {}
    for line in printed.stdout.splitlines():
        answer = json.loads(line)
        label = LABELS[Path(answer["source"]).stem]
        said = [cause["id"] for cause in answer["causes"]]
        good = {label["cause"], *label.get("also_ok", [])}
        first.append(said[0] in good)
        strict.append(said[0] == label["cause"])
        ranks.append(max((1 / n for n, cause in enumerate(said, 1) if cause in good), default=0))
        sure = answer["causes"][0]["confidence"]
        gaps.setdefault(min(int(sure * 10), 9), []).append(sure - first[-1])
    assert len(first) == 4
    assert 0 < sum(first) < 4
    figures = {key: figure["value"] for key, figure in document["figures"].items()}
    assert figures["top-1"] == sum(first) / 4
    assert figures["top-1-strict"] == sum(strict) / 4
    assert figures["mrr"] == pytest.approx(sum(ranks) / 4, abs=1e-4)
    error = sum(abs(sum(members)) for members in gaps.values()) / 4
    assert figures["calibration-error"] == pytest.approx(error, abs=1e-4)


def test_what_the_traces_show_is_measured(document: dict[str, Any]) -> None:
    figures = {key: (figure["value"], figure["n"]) for key, figure in document["figures"].items()}
    assert document["n"] == {"reports": 5, "device": 4, "negative": 1}
    assert figures["negatives-rejected"] == (1, 1)
    assert figures["family"] == (1, 2)
    for measure in ("devices", "op", "argument", "exception", "innermost-frame", "culprit", "fix"):
        assert figures[measure] == (1, 1), measure
    assert figures["top-1-certain"] == (1, 1)
    assert "all-frames" not in figures
    wrong = next(r for r in document["reports"] if r["name"] == "mine/llms-from-scratch-out-head")
    assert wrong["misses"]["top-1"]["wanted"] == "generator-device or index-device"
    (confusion,) = (c for c in document["confusions"] if not c["accepted"])
    assert confusion["reports"] == [wrong["name"]]


def test_several_processes_give_the_same(mine: Path, document: dict[str, Any]) -> None:
    done = run("mine", "--format", "json", "--jobs", "2", cwd=mine)
    assert json.loads(done.stdout) == document


def test_a_run_tells_what_changed_since_a_saved_one(mine: Path, document: dict[str, Any]) -> None:
    earlier = json.loads((mine / "run.json").read_text())
    report = next(r for r in earlier["reports"] if r["name"] == "mine/easyedit-memit-delta")
    report["scores"]["top-1"] = 0
    report["causes"][0]["id"] = "hardcoded-device"
    (mine / "earlier.json").write_text(json.dumps(earlier))
    done = run("mine", "--against", "earlier.json", "--output", "earlier.json", cwd=mine)
    assert done.returncode == 0
    assert "Changes in 5 reports" in done.stdout
    better = done.stdout.split("Got better")[1]
    assert "mine/easyedit-memit-delta" in better
    assert "hardcoded-device" in better
    assert "Got worse" not in done.stdout
    # The file that was compared with was read before it was written anew.
    assert json.loads((mine / "earlier.json").read_text()) == document


def test_misses_are_listed_when_asked_for(mine: Path) -> None:
    assert "Misses" not in run("mine", cwd=mine).stdout
    shown = run("mine", "--misses", cwd=mine).stdout.split("Misses")[1]
    assert "mine/llms-from-scratch-out-head: wanted generator-device or" in shown
    assert run("mine", "--format", "markdown", cwd=mine).stdout.startswith("### 5 labelled reports")


def test_bounds_decide_the_exit_status(mine: Path) -> None:
    good = run("mine", "--fail-under", "top-1=0.75", "--fail-over", "top-1=0.75", cwd=mine)
    assert (good.returncode, good.stderr) == (0, "")
    bad = run(
        "mine",
        "--fail-under",
        "top-1=0.76",
        "--fail-over",
        "top-1=0.7",
        "--output",
        "b.json",
        cwd=mine,
    )
    assert bad.returncode == 1
    assert bad.stderr == (
        "diagnose: top-1 is 0.7500, under 0.76\ndiagnose: top-1 is 0.7500, over 0.7\n"
    )
    assert (mine / "b.json").exists()
    assert "top-1" in bad.stdout


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["mine", "--fail-under", "top1=0.9"], "'top1' is no measure; there are answered, top-1,"),
        (["mine", "--fail-under", "top-1"], "'top-1' is not of the form top-1=0.9"),
        (["mine", "--fail-under", "top-1=90"], "90 is not between 0 and 1"),
        (["mine", "--fail-over", "top-1=nan"], "nan is not between 0 and 1"),
        (["mine", "--fail-under", "all-frames=0"], "all-frames cannot be checked: no label has"),
        (["mine", "--against", "no.json"], "no.json cannot be read: No such file or directory"),
        (["mine", "--against", "mine/shapes.json"], "mine/shapes.json is no saved run"),
        (["mine", "--output", "no/run.json"], "no/run.json cannot be written"),
        (["mine", "-o", "no/c.svg"], "no/c.svg cannot be written"),
        (["nowhere"], "nowhere cannot be read: No such file or directory"),
        (["mine/shapes.txt"], "mine/shapes.txt cannot be read: Not a directory"),
        ([], "Missing argument 'DIR...'"),
    ],
)
def test_bad_usage_and_input_have_a_sentence(mine: Path, args: list[str], said: str) -> None:
    done = run(*args, cwd=mine)
    assert done.returncode == 2
    assert said in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr


def test_every_mistake_is_told_up_to_twenty(tmp_path: Path) -> None:
    for n in range(23):
        write(tmp_path / "mine", f"r{n:02}", SHAPES, {"cause": "no-device"})
    done = run("mine", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.count("has the unknown id 'no-device'; perhaps not-device") == 20
    assert done.stderr.endswith("(and 3 more mistakes)\n")


def test_an_internal_error_ends_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*args: object, **kwargs: object) -> None:
        raise KeyError("x")

    monkeypatch.setattr(runs, "diagnose", broken)
    log = tmp_path / "a.txt"
    log.write_text(SHAPES)
    (outcome,) = runs.evaluate([Labelled("a", log, Label(accepted=("not-device",)))])
    assert outcome.problem == "KeyError: 'x'"
    assert outcome.values == {"answered": 0, "negatives-rejected": 0}


def test_measuring_imports_nothing_heavy(mine: Path) -> None:
    probe = (
        "import sys; from diagnose.cli import main\n"
        "try: main(['kb', 'evaluate', 'mine', '-o', 'p.svg'])\n"
        "except SystemExit: pass\n"
        "print([m for m in ('torch', 'sqlalchemy', 'flask', 'numpy', 'matplotlib') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", probe], capture_output=True, text=True, cwd=mine, timeout=120
    )
    assert done.stdout.splitlines()[-1] == "[]"
