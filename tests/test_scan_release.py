"""training/scan_release.py: what a release says about devices, and who reads it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "training"))
import scan_release  # noqa: E402

PYTHON = b"""
import torch, warnings

def check(q, k, scale, mesh):
    if q.device != k.device:
        raise ValueError(f"q is on {q.device}, whereas k is on {k.device}")
    assert scale.device == q.device, "scale must be on %s, got %s" % (q.device, scale.device)
    torch._check(q.is_cuda, lambda: f"q lacks its home device; {mesh.name} expected {q.shape}")
    warnings.warn("all tensors should be on the same device")
    raise TypeError("a message of something else")
    raise RuntimeError("CUDA out of memory on the same device")
"""
CPP = 'TORCH_CHECK(a.device() == b.device(), "a must be on ", b.device(),\n  " but it is on ", a.device());'


def test_messages_of_python_have_values_in_their_slots() -> None:
    found = {(text.exception, text.message) for text in scan_release.of_python("a.py", PYTHON)}
    assert ("ValueError", "q is on cuda:0, whereas k is on cpu") in found
    assert ("AssertionError", "scale must be on cuda:0, got cpu") in found
    assert ("RuntimeError", "q lacks its home device; name expected 3") in found
    assert ("UserWarning", "all tensors should be on the same device") in found


def test_literals_of_a_check_are_put_together() -> None:
    [text] = scan_release.of_cpp("a.cu", CPP)
    assert text.message == "a must be on cuda:0 but it is on cpu"


def test_only_what_is_about_devices_counts() -> None:
    about = scan_release.about_devices
    assert about("scale must be on cuda:0, got cpu")
    assert not about("a message of something else")
    assert not about("CUDA out of memory on the same device")


def test_a_folder_is_a_row_of_the_table(tmp_path: Path) -> None:
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib/checks.py").write_bytes(PYTHON)
    (tmp_path / "lib/test_checks.py").write_bytes(PYTHON.replace(b"scale must", b"scale should"))
    (tmp_path / "lib/kernel.cu").write_text(CPP)
    command = [
        sys.executable,
        ROOT / "training/scan_release.py",
        tmp_path / "lib",
        "--show",
        "unread",
    ]
    shown = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    assert shown[2:] == [
        "| lib | 5 | 3 | 1 | 1 |",
        "checks.py: RuntimeError: q lacks its home device; name expected 3",
    ]
