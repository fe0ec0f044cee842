"""The verification programs at work, on simulated GPUs."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import forked
import pytest

from diagnose._toml import loads
from diagnose.casebase.store import Casebase
from diagnose.model import Cause, Frame, Mismatch, Report
from diagnose.verification.program import program as source

pytest.importorskip("torch")


HERE = Path(__file__).parent
KB = HERE.parents[1] / "kb"
SCRIPTS = HERE / "scripts"
CAUSES = sorted(path.stem for path in (KB / "causes").glob("*.toml"))
CHECKS = sorted(path.stem for path in (KB / "verification/checks").glob("*.py"))


def incidents() -> list[str]:
    """An incident of each cause, the first one that needs torch alone; all of them are run under the
    snippets of their causes, by tests/test_every_incident.py."""
    found: dict[str, list[str]] = {}
    for path in sorted((KB / "cases").glob("*/case.toml")):
        facts = loads(path.read_text("utf-8"))
        if facts["needs"] == ["torch"] and facts.get("simulated", True) and not facts.get("silent"):
            found.setdefault(facts["cause"], []).append(path.parent.name)
    return [slug for slugs in found.values() for slug in slugs[:1]]


CASES = incidents()
#: Script -> its check, and what the check must say of the failing variant.
SAYS = {
    "module_census": ("2.weight, 2.bias are on cpu, 2 other parameters and buffers on cuda:0",),
    "module_census_idle": ("head.weight, head.bias are on cpu, 2 other parameters",),
    "plain_tensors": ("heads[0].weight, heads[0].bias", "on cpu", "their module is on cuda:0"),
    "unseen_layers": ("heads[0].weight, heads[0].bias are trained by no optimizer",),
    "module_inputs": ("input_ids is on cpu, Model on cuda:0",),
    "optimizer_state": ("exp_avg of weight, exp_avg of bias are on cpu, the parameters on cuda:0",),
    "optimizer_state_stale": ("no parameter of SGD", "its are on cpu, the models' on cuda:0"),
    "rank_binding": ("local rank 1 has Linear on cuda:0, not on cuda:1",),
    "replicas": ("offset is on cuda:0 and shared by all replicas",),
    "replicas_home": ("weight, bias are on cuda:1, DataParallel copies from cuda:0",),
    "device_map": ("2 on cuda:0 (lower.weight, ...), 2 on cuda:1 (upper.weight, ...)",),
    "meta_parameters": ("1.weight, 1.bias are on meta, without values",),
    "criterion": ("weight of CrossEntropyLoss is on cpu, its inputs on cuda:0",),
    "generators": ("noise, a generator of cpu, is used at generators.py:6",),
    "checkpoint": ("torch.load put 1 tensors of a stream on cuda:1",),
    "indexing": ("mask is on cuda:0, labels on cpu",),
    "host_copies": ("scores is on cuda:0; host code needs scores.detach().cpu()",),
}
#: Way to end -> options, status, what the last line says.
ENDINGS = {
    "train": (["--steps", "2"], 0, "PASS: stopped without a device error; 2 optimizer steps"),
    "chat": (["--passes", "3"], 0, "PASS: stopped without a device error; 0 optimizer steps and 3"),
    "interrupted": ([], 0, "PASS: stopped without a device error; 1 optimizer steps"),
    "interrupted-in-step": ([], 1, "FAIL: stopped before a whole step was seen"),
    "interrupted-early": ([], 1, "FAIL: stopped before a whole step was seen"),
    "exit": ([], 1, "FAIL: ended with exit status 3"),
    "crash": ([], 1, "FAIL: ended by ValueError, no device error"),
    "memory": ([], 1, "FAIL: ended by RuntimeError, no device error"),
    "file": ([], 1, "FAIL: ended by FileNotFoundError, no device error"),
}


@dataclass(frozen=True)
class Run:
    """How a program ended."""

    status: int
    lines: list[str]
    leftovers: int

    @property
    def verdict(self) -> str:
        return self.lines[-1]

    @property
    def text(self) -> str:
        return "\n".join(self.lines)


def check_of(script: str) -> str:
    return next(check for check in CHECKS if script.startswith(check))


@pytest.fixture(scope="module")
def runs(
    casebase: Casebase, once: Callable[[str, Callable[[Path], object]], Path]
) -> dict[str, Run]:
    """All runs of this module, by name."""
    records = json.loads(once("verification.json", partial(make, casebase)).read_text("utf-8"))
    return {name: Run(**outcome) for name, outcome in records.items()}


def make(casebase: Casebase, path: Path) -> None:
    """Makes the runs at once, in one process."""
    folder = path.with_suffix("")
    folder.mkdir()
    wanted: dict[str, dict[str, Any]] = {}

    def want(name: str, program: str, *args: str | Path, gpus: int = 2, **env: str) -> None:
        path = folder / f"{name.replace('/', '_')}.py"
        path.write_text(program, encoding="utf-8")
        run = {"program": str(path), "args": [str(arg) for arg in args], "gpus": gpus, "env": env}
        wanted[name] = run

    def program(cause: Cause, report: Report | None = None, culprit: Frame | None = None) -> str:
        return source(cause, report, culprit, casebase)

    every_check = tuple(check.replace("_", "-") for check in CHECKS)
    for name, cause in casebase.causes.items():
        want(f"cause/{name}", program(cause), gpus=cause.gpus)
        want(f"every-check/{name}", program(cause._replace(checks=every_check)))
        want(f"no-gpu/{name}", program(cause), gpus=0)
    for slug in CASES:
        script = KB / "cases" / slug / "reproduce.py"
        cause = casebase.causes[loads((script.with_name("case.toml")).read_text("utf-8"))["cause"]]
        for variant in ("fixed", "failing"):  # a failing one may change its library for good
            want(f"case/{slug}/{variant}", program(cause), script, variant)

    plain = casebase.causes["created-without-device"]
    for name in SAYS:
        one = program(plain._replace(checks=(check_of(name).replace("_", "-"),)))
        env = {"LOCAL_RANK": "1"} if name == "rank_binding" else {}
        for variant in ("failing", "fixed"):
            want(f"check/{name}/{variant}", one, SCRIPTS / f"{name}.py", variant, **env)
    copies = casebase.causes["cross-shard-op"]._replace(checks=("peer-copy",))
    want("copies/intact", program(copies), SCRIPTS / "indexing.py", "fixed")
    (folder / "copies.py").write_text(program(copies), encoding="utf-8")
    damaged = (SCRIPTS / "damaged_copies.py").read_text(encoding="utf-8")
    want("copies/damaged", damaged, folder / "copies.py")

    for how, (options, _, _) in ENDINGS.items():
        want(f"ending/{how}", program(plain), *options, SCRIPTS / "endings.py", how)
    want("module", program(plain), "-m", "calendar", "2024")
    want("no-script", program(plain), folder / "absent.py")
    want("bad-option", program(plain), "--steps", "many", SCRIPTS / "endings.py")
    shards = casebase.causes["cross-shard-op"]
    want("one-gpu", program(shards), SCRIPTS / "indexing.py", "fixed", gpus=1)
    want("one-gpu-meant", program(shards), "--gpus", "1", SCRIPTS / "indexing.py", "fixed", gpus=1)
    three = Report("log", mismatch=Mismatch(("cuda:0", "cuda:1", "cuda:5"), None, None, "any"))
    want("three-gpus", program(plain, three), SCRIPTS / "indexing.py", "fixed")
    for line in (8, 9):
        spot = Frame("/somewhere/else/indexing.py", line)
        want(f"line/{line}", program(plain, None, spot), SCRIPTS / "indexing.py", "failing")

    result = subprocess.run(
        [forked.python(), HERE / "batch.py"],
        input=json.dumps(list(wanted.values())),
        capture_output=True,
        text=True,
    )
    assert result.returncode == 0, result.stderr
    outcomes = json.loads(result.stdout)
    path.write_text(json.dumps(dict(zip(wanted, outcomes, strict=True))), encoding="utf-8")


@pytest.mark.parametrize("cause", CAUSES)
def test_self_test_passes_where_gpus_check_devices(runs: dict[str, Run], cause: str) -> None:
    run = runs[f"cause/{cause}"]
    assert run.status == 0, run.text
    assert run.verdict == "PASS: the mistake is refused, its repair runs"
    assert run.lines[0].startswith(f"{cause}: needs ")


@pytest.mark.parametrize("cause", CAUSES)
def test_no_check_slanders_a_correct_example(runs: dict[str, Run], cause: str) -> None:
    """The repaired example under all checks at once: nothing is misplaced."""
    run = runs[f"every-check/{cause}"]
    assert run.status == 0, run.text


@pytest.mark.parametrize("cause", CAUSES)
def test_without_gpus_nothing_is_claimed(runs: dict[str, Run], cause: str) -> None:
    run = runs[f"no-gpu/{cause}"]
    assert run.status == 2
    assert run.verdict.startswith("NOT RUN: too few GPUs")


@pytest.mark.parametrize("slug", CASES)
def test_incident_fails_and_its_repair_passes(runs: dict[str, Run], slug: str) -> None:
    failing, fixed = (runs[f"case/{slug}/{variant}"] for variant in ("failing", "fixed"))
    assert failing.status == 1, failing.text
    assert failing.verdict.startswith("FAIL: ")
    assert "failed at " in failing.verdict
    assert fixed.status == 0, fixed.text
    assert fixed.verdict.startswith("PASS: ran to its end without a device error")


def test_every_check_has_a_script() -> None:
    assert {check_of(script) for script in SAYS} | {"peer_copy"} == set(CHECKS)


@pytest.mark.parametrize("script", SAYS)
def test_check_names_what_is_misplaced(runs: dict[str, Run], script: str) -> None:
    run = runs[f"check/{script}/failing"]
    assert run.status == 1, run.text
    assert run.verdict.startswith("FAIL: ")
    for words in SAYS[script]:
        assert words in run.verdict


@pytest.mark.parametrize("script", SAYS)
def test_check_is_silent_where_all_is_right(runs: dict[str, Run], script: str) -> None:
    run = runs[f"check/{script}/fixed"]
    assert run.status == 0, run.text
    assert run.verdict.startswith("PASS: ")


def test_damaged_copies_between_gpus_are_found(runs: dict[str, Run]) -> None:
    assert runs["copies/intact"].status == 0, runs["copies/intact"].text
    assert runs["copies/damaged"].status == 1
    assert "a copy from cuda:0 to cuda:1 arrived damaged" in runs["copies/damaged"].verdict


@pytest.mark.parametrize("how", ENDINGS)
def test_each_way_to_end_has_its_verdict(runs: dict[str, Run], how: str) -> None:
    _, status, verdict = ENDINGS[how]
    run = runs[f"ending/{how}"]
    assert run.status == status, run.text
    assert run.verdict.startswith(verdict)


def test_traceback_of_the_script_is_printed(runs: dict[str, Run]) -> None:
    assert "ValueError: learning rate must be positive" in runs["ending/crash"].lines


def test_what_cannot_be_run_says_so(runs: dict[str, Run]) -> None:
    assert runs["no-script"].status == 2
    assert runs["no-script"].verdict.startswith("NOT RUN: no such script: ")
    assert runs["bad-option"].status == 2
    assert runs["bad-option"].verdict.startswith("NOT RUN: ")


def test_module_runs_as_python_m_would(runs: dict[str, Run]) -> None:
    run = runs["module"]
    assert run.status == 0, run.text
    assert any("2024" in line for line in run.lines)
    assert run.verdict.endswith("0 optimizer steps and 0 forward passes seen")


def test_fewer_gpus_must_be_meant(runs: dict[str, Run]) -> None:
    assert runs["one-gpu"].status == 2
    assert runs["one-gpu"].verdict == "NOT RUN: too few GPUs: needs 2, 1 visible"
    assert runs["one-gpu-meant"].status == 0


def test_report_of_three_gpus_needs_three(runs: dict[str, Run]) -> None:
    assert runs["three-gpus"].status == 2
    assert "needs 3, 2 visible" in runs["three-gpus"].verdict


def test_failing_line_is_compared_with_the_report(runs: dict[str, Run]) -> None:
    assert "(another line than the report's indexing.py:8)" in runs["line/8"].verdict
    assert "(the report's indexing.py:9)" in runs["line/9"].verdict
    assert "labels on cpu, mask on cuda:0" in runs["line/9"].verdict


def test_nothing_stays_installed_in_torch(runs: dict[str, Run]) -> None:
    assert {name for name, run in runs.items() if run.leftovers} == set()


def test_missing_torch_is_named(casebase: Casebase, tmp_path: Path) -> None:
    path = tmp_path / "verify.py"
    path.write_text(source(casebase.causes["rank-device"], None, None, casebase), encoding="utf-8")
    (tmp_path / "torch.py").write_text("raise ImportError('no module named torch')")
    result = subprocess.run([sys.executable, path], capture_output=True, text=True)
    assert result.returncode == 2
    assert result.stdout.startswith("NOT RUN: torch cannot be imported here")
