"""When two failures are one: the same expression, whatever was moved in it."""

from __future__ import annotations

import traceback
from pathlib import Path

import pytest

pytest.importorskip("torch")

from diagnose.kinds import ConstraintKind
from diagnose.repair.model import Failure, Ran, Wanted
from diagnose.repair.runs.failures import failure
from diagnose.repair.synthesis import candidates
from diagnose.repair.workspace import Workspace


class Stray:
    """Stands in for a tensor: it has the moves, and its arithmetic is refused as torch refuses it."""

    def __init__(self, broken: bool = True) -> None:
        self.broken = broken

    def to(self, device: object) -> Stray:
        return self

    detach = cpu = cuda = to

    def __add__(self, other: Stray) -> Stray:
        if other.broken:
            raise RuntimeError("Expected all tensors to be on the same device, cuda:0 and cpu!")
        return self


NAMES = {"Stray": Stray, "a": Stray(), "b": Stray(), "ok": Stray(False)}


def failed(folder: Path, last: str) -> Failure:
    """How a program ends whose last line this is."""
    origin = folder / "user"
    origin.mkdir(exist_ok=True)
    (origin / "train.py").write_text(f"{last}\n")
    workspace = Workspace(origin, folder / "home")
    path = workspace.fresh({}) / "train.py"
    with pytest.raises(RuntimeError) as caught:
        exec(compile(path.read_text(), str(path), "exec"), dict(NAMES))
    return failure(caught.value, workspace)


@pytest.mark.parametrize(
    "edited", ["a + b.to(a)", "a.detach(0).cpu(0) + b", 'a + b.to(next(iter([a])).to("cuda"))']
)
def test_an_expression_with_another_move_in_it_fails_as_before(tmp_path: Path, edited: str) -> None:
    assert failed(tmp_path, edited).key == failed(tmp_path, "a + b").key


def test_another_expression_of_the_line_is_another_failure(tmp_path: Path) -> None:
    before = failed(tmp_path, "print((a + b) + a)")
    after = failed(tmp_path, "print((a + ok) + a)")
    assert before.place == after.place == "train.py:1"
    assert before.key != after.key


def test_a_failure_that_is_handed_on_is_that_of_the_replica(tmp_path: Path) -> None:
    """As `torch._utils.ExceptionWrapper` hands it on."""

    def replica(last: str) -> Failure:
        inner = failed(tmp_path, last)
        (tmp_path / "user" / "run.py").write_text("raise error\n")
        workspace = Workspace(tmp_path / "user", tmp_path / "home")
        path = workspace.fresh({}) / "train.py"
        try:
            exec(compile(path.read_text(), str(path), "exec"), dict(NAMES))
        except RuntimeError as error:
            told = f"Caught RuntimeError in replica 1 on device 1.\nOriginal {_printed(error)}"
        with pytest.raises(RuntimeError) as caught:
            waiting = str(path.with_name("run.py"))
            exec(compile("raise error", waiting, "exec"), {"error": RuntimeError(told)})
        found = failure(caught.value, workspace)
        assert found.place == inner.place
        assert found.placement
        return found

    first, second = replica("print((a + b) + a)"), replica("print((a + ok) + a)")
    assert first.key != second.key
    assert first.key == replica("print((a + b.to(a)) + a)").key


def _printed(error: RuntimeError) -> str:
    return "".join(traceback.format_exception(error))


@pytest.mark.parametrize(
    ("expression", "operators", "asked"),
    [("a.to(1) + b", 9, False), ("ok + b", 2, False), ("ok + b", 5, True)],
)
def test_edits_are_asked_for_where_a_run_came_further_only(
    tmp_path: Path, expression: str, operators: int, asked: bool
) -> None:
    past = Ran(1, failure=failed(tmp_path, "a + b"), calls={"cuda": 5})
    now = failed(tmp_path, expression)
    assert Wanted(True, past).of(now, {"cuda": operators}) is asked
    assert Wanted(True).of(now, {})
    assert not Wanted(False).of(now, {"cuda": operators})


def test_shapes_that_do_not_fit_are_no_matter_of_devices(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        candidates, "_met", lambda error: ConstraintKind.JOIN
    )  # the operands are apart, too
    sizes = (
        "The size of tensor a (8) must match the size of tensor b (4) at non-singleton dimension 1"
    )
    assert not candidates.is_placement(RuntimeError(sizes))
    assert candidates.is_placement(RuntimeError("batches belong on the accelerator"))
