"""Edits that a text answer prints agree with what it says of the operands, and leave nothing behind."""

from __future__ import annotations

from pathlib import Path

from diagnose.casebase.store import Casebase
from diagnose.model import Fix
from diagnose.pipeline import diagnose
from diagnose.sources import Folder, Sources

MET = "RuntimeError: Expected all tensors to be on the same device, but found at least two devices, {}"
LAYER = """\
  File "/x/site-packages/torch/nn/modules/module.py", line 1775, in _wrapped_call_impl
    return self._call_impl(*args, **kwargs)
  File "/x/site-packages/torch/nn/modules/linear.py", line 125, in forward
    return F.linear(input, self.weight, self.bias)
"""


def fixes(casebase: Casebase, cause: str, *frames: str, message: str) -> tuple[Fix, ...]:
    """The fixes of the first cause of a traceback, which must be ``cause``."""
    text = "Traceback (most recent call last):\n" + "".join(frames) + message + "\n"
    first = diagnose(text.encode(), "-", casebase=casebase).causes[0]
    assert first.id == cause
    return first.fixes


def frame(function: str, code: str, carets: str = "") -> str:
    under = f"    {carets}\n" if carets else ""
    return f'  File "/home/u/project/train.py", line 30, in {function}\n    {code}\n{under}'


def test_the_operand_that_the_evidence_names_is_moved(casebase: Casebase) -> None:
    """By convention the second operand follows the first: here the first is what was made."""
    found = fixes(
        casebase,
        "created-without-device",
        frame("mix", "z = noise * latents", "    ~~~~~~^~~~~~~~~"),
        message=MET.format("cuda:0 and cpu!"),
    )
    edits = [fix.edit.after for fix in found if fix.edit is not None]
    assert edits[0] == "z = noise.to(latents.device) * latents"


def test_in_a_formula_the_operand_that_the_evidence_names_is_moved_to_no_number(
    casebase: Casebase,
) -> None:
    found = fixes(
        casebase,
        "created-without-device",
        frame("step", "x = alpha_t * x + sigma_t * noise"),
        message=MET.format("cuda:0 and cpu!"),
    )
    edits = [fix.edit.after for fix in found if fix.edit is not None]
    assert edits[0] == "x = alpha_t * x + sigma_t * noise.to(x.device)"


def test_a_module_that_stayed_is_not_mended_by_taking_its_input_to_the_host(
    casebase: Casebase,
) -> None:
    message = (
        "RuntimeError: Expected all tensors to be on the same device, but got mat1 is on cuda:0, different "
        "from other tensors on cpu (when checking argument in method wrapper_CUDA_addmm)"
    )
    found = fixes(
        casebase,
        "module-not-moved",
        frame("distill", "wanted = teacher(images)"),
        LAYER,
        message=message,
    )
    assert found[0].kind == "move-module"
    assert all(fix.edit is None for fix in found)


def test_a_list_of_tensors_is_copied_one_by_one(casebase: Casebase) -> None:
    message = (
        "TypeError: can't convert cuda:0 device type tensor to numpy. Use Tensor.cpu() to copy the tensor "
        "to host memory first."
    )
    first, *_ = fixes(
        casebase,
        "host-copy-needed",
        frame("report", "rows = np.array(self.rewards)"),
        message=message,
    )
    assert first.edit is None
    assert "for one in scores" in (first.code or "")


def test_what_a_rank_meets_is_brought_over_for_now_only(casebase: Casebase) -> None:
    """The labels are on the first GPU: they would follow, and the process is to be bound all the same."""
    message = (
        "[rank1]: RuntimeError: Expected all tensors to be on the same device, but got target is on cuda:0, "
        "different from other tensors on cuda:1 (when checking argument in method "
        "wrapper_CUDA_nll_loss_forward)"
    )
    text = f"[rank1]: Traceback (most recent call last):\n{frame('run', 'loss = F.cross_entropy(scores, wanted)')}"
    log = "\n".join(
        line if line.startswith("[rank1]") else f"[rank1]: {line}" for line in text.splitlines()
    )
    first = diagnose(f"{log}\n{message}\n".encode(), "-", casebase=casebase).causes[0]
    assert first.id == "rank-device"
    edits = [fix for fix in first.fixes if fix.edit is not None]
    assert all(fix.stopgap for fix in edits)
    assert all("scores.to(" not in fix.edit.after for fix in edits if fix.edit)


def test_a_device_of_another_type_is_written_as_the_message_writes_it(
    casebase: Casebase, tmp_path: Path
) -> None:
    lines = (
        "import torch",
        "def mix():",
        "    table = torch.zeros(2)",
        "    return draw() + table",
    )
    (tmp_path / "run.py").write_text("\n".join(lines))
    trace = (
        "Traceback (most recent call last):\n"
        f'  File "/home/u/run.py", line 4, in mix\n{lines[3]}\n{MET.format("xpu:1 and cpu!")}\n'
    )
    sources = Sources((Folder(str(tmp_path)),), read=None)
    first = diagnose(trace, casebase=casebase, sources=sources).causes[0]
    made = next(fix for fix in first.fixes if fix.kind == "create-on-device")
    assert made.edit is not None and 'torch.zeros(2, device="xpu:1")' in made.edit.after
