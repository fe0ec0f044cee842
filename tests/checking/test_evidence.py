"""What nothing calls is given what is on a GPU where something says so, and only there."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import forked
import pytest

from diagnose.casebase.store import load
from diagnose.checking.checking import check, mend
from diagnose.checking.model import Options

HERE = Path(__file__).parent
OPTIONS = Options(frozenset(rule.id for rule in load().checks() if not rule.preview), likely=True)
#: The same programs without what says so, or where it is seen to, or on the host.
QUIET = {
    "window_of_a_module": ("Spectrum(nn.Module)", "Spectrum"),
    "labels_beside_a_move": (".to(boxes)", ""),
    "noise_beside_a_follower": (", device=batch.device", ""),
    "rows_of_a_moved_object": (".to(device)", ".clone()"),
    "literal_beside_a_device": (
        "        return self.net(seen.cuda())",
        "        if torch.cuda.is_available():\n            seen = seen.cuda()\n        return self.net(seen)",
    ),
    "items_of_a_batch": ("nn.Module", "object"),
    "batches_of_a_loader": (", device=device", ""),
    "weights_where_a_gpu_is_asked_for": (
        '"cuda" if torch.cuda.is_available() else "cpu"',
        '"cuda"',
    ),
    "weights_loaded_as_saved": ("torch.load(path)", 'torch.load(path, map_location="cpu")'),
}
#: What a default keeps from happening, and the same put right.
TURNED = {
    "rows_by_a_flag": ("torch.rand(8, 3)", "torch.rand(8, 3, device=cloud.device)"),
    "bands_unless_trained": ("self.bands = bands", "self.bands = nn.Parameter(bands, False)"),
}
#: How they are called: on a GPU, or on a machine without one.
CALLS = {
    "window_of_a_module": "print(Spectrum(4).loudness(torch.rand(2, 8).cuda()).sum())",
    "labels_beside_a_move": "print(kept(torch.rand(5, 3).cuda(), torch.rand(5, 4).cuda())[1].sum())",
    "noise_beside_a_follower": "print(Noise(2).apply(torch.rand(3).cuda()).sum())",
    "rows_by_a_flag": "print(seeds(torch.rand(9, 3).cuda(), True).sum())",
    "bands_unless_trained": "print(Waves(8, False).cuda()(torch.rand(3).cuda()).sum())",
    "items_of_a_batch": "print(Gaps()({'rows': torch.rand(2, 3).cuda()}).sum())",
    "batches_of_a_loader": "print(share(torch.nn.Linear(2, 2).cuda(), [torch.rand(3, 2)], 'cuda'))",
    "literal_beside_a_device": "print(Agent(torch.nn.Linear(2, 2), 'cpu').value(torch.rand(2)).sum())",
}


def folder(name: str) -> Path:
    return HERE / ("turned" if name in TURNED else "likely")


@pytest.mark.parametrize("name", TURNED)
def test_what_a_default_keeps_from_happening_is_found(name: str) -> None:
    path = folder(name) / f"{name}.py"
    (marked,) = [n for n, line in enumerate(path.read_text().splitlines(), 1) if "# finds" in line]
    assert [one.place.line for one in check([str(path)], OPTIONS).findings] == [marked]


@pytest.mark.parametrize("name", [*QUIET, *TURNED])
def test_without_evidence_nothing_is_found(name: str, tmp_path: Path) -> None:
    text = (folder(name) / f"{name}.py").read_text()
    old, new = (QUIET | TURNED)[name]
    assert old in text
    program = tmp_path / "program.py"
    program.write_text(text.replace(old, new))
    assert check([str(program)], OPTIONS).findings == ()


@pytest.mark.parametrize("name", ["Collate", "Transform", "Dataset", "Sampler"])
def test_what_prepares_data_on_the_host_is_left_alone(name: str, tmp_path: Path) -> None:
    text = (HERE / "likely/noise_beside_a_follower.py").read_text()
    program = tmp_path / "program.py"
    program.write_text(text.replace("Noise", f"Noise{name}"))
    assert check([str(program)], OPTIONS).findings == ()


@pytest.mark.parametrize(
    ("folder", "other", "found"),
    [
        ("ops", "def run(model, device):\n    return model.to(device)\n", True),
        ("ops", "def run(model):\n    return model.eval()\n", False),
        ("datasets", "def run(model, device):\n    return model.to(device)\n", False),
    ],
)
def test_another_file_of_the_package_says_so(
    folder: str, other: str, found: bool, tmp_path: Path
) -> None:
    package = tmp_path / "package" / folder
    package.mkdir(parents=True)
    for inside in (package.parent, package):
        (inside / "__init__.py").touch()
    (package.parent / "main.py").write_text(other)
    program = package / "density.py"
    program.write_text(
        "import torch\n\n\ndef density(rows):\n    scale = torch.eye(rows.shape[1])\n    return rows @ scale\n"
    )
    findings = check([str(program)], OPTIONS).findings
    assert [one.place.line for one in findings] == ([5] if found else [])
    assert all(one.because and one.because.place.file.endswith("main.py") for one in findings)


@pytest.mark.parametrize("name", QUIET)
def test_a_finding_says_what_says_so(name: str) -> None:
    (finding,) = check([str(HERE / "likely" / f"{name}.py")], OPTIONS).findings
    assert finding.because is not None
    assert finding.because.place.line != finding.place.line


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")
def test_each_fails_where_it_is_called_and_does_not_once_it_is_repaired(tmp_path: Path) -> None:
    before, after = [], []
    for name, call in CALLS.items():
        path = tmp_path / f"{name}.py"
        path.write_text(re.sub(r"  # finds.*", "", (folder(name) / f"{name}.py").read_text()))
        report = check([str(path)], OPTIONS)
        (mended,) = mend(report, [str(path)], OPTIONS, unsafe=True)[1]
        for text, programs in ((mended.before, before), (mended.after, after)):
            program = tmp_path / f"{name}_{len(programs)}_{text is mended.after}.py"
            program.write_text(f"{text}\n\nimport torch\n{call}\n")
            programs.append(program)
    run = subprocess.run(
        [forked.python(), HERE / "simulated.py", *before, *after],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        timeout=600,
        check=True,
    )
    assert run.stdout.splitlines() == [str(path) for path in after]
