"""Every documented incident, proven by running it on simulated GPUs.

The failing variant fails with a device error, the fixed one ends well, and the snippet of its cause
tells the two apart; `diagnose kb check --run` prints the same as a table.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import pytest

from diagnose.authoring.proof import Proof, prove
from diagnose.commands.proofs import named

pytest.importorskip("torch")

SLUGS = sorted(p.parent.name for p in (Path(__file__).parents[1] / "kb/cases").glob("*/case.toml"))


@pytest.fixture(scope="module")
def proofs(
    kb: Path, casebase_path: Path, once: Callable[[str, Callable[[Path], object]], Path]
) -> dict[str, Proof]:
    """All proofs, made once, on all cores."""

    def make(path: Path) -> None:
        made = [asdict(proof) for proof in prove(kb, SLUGS, casebase=casebase_path)]
        path.write_text(json.dumps(made), encoding="utf-8")

    records = json.loads(once("proofs.json", make).read_text(encoding="utf-8"))
    return {r["incident"]: Proof(**{**r, "causes": tuple(r["causes"])}) for r in records}


@pytest.mark.parametrize("slug", SLUGS)
def test_the_incident_holds(slug: str, proofs: dict[str, Proof]) -> None:
    proof = proofs[slug]
    if proof.skipped:
        pytest.skip(proof.skipped)
    assert not proof.problems


def test_most_causes_are_found_without_the_incident_itself(proofs: dict[str, Proof]) -> None:
    """The answers come from what the traces show: each is ranked with its own incident left out."""
    errors = [p for p in proofs.values() if not p.silent and not p.skipped]
    three = [p for p in errors if p.rank is not None and p.rank <= 3]
    assert len(three) >= 0.7 * len(errors)


def test_most_snippets_show_what_is_misplaced(proofs: dict[str, Proof]) -> None:
    """What the cause asserts sees it; else the snippet has the error and the devices of the last frame."""
    ran = [proof for proof in proofs.values() if not proof.skipped]
    assert sum(map(named, ran)) >= 0.68 * len(ran)


def test_a_mistake_in_an_incident_is_found(kb: Path, casebase_path: Path, tmp_path: Path) -> None:
    slug = "llms-from-scratch-out-head"
    shutil.copytree(kb / "cases" / slug, tmp_path / "cases" / slug)
    program = tmp_path / "cases" / slug / "reproduce.py"
    program.write_text("import sys\nprint(sys.argv[1])\n")
    (proof,) = prove(tmp_path, [slug], casebase=casebase_path)
    assert "the failing variant ends with status 0, not 1" in proof.problems
    assert proof.rank is None
