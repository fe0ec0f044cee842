"""Which fix of a cause comes first: what a fact calls for, before what its page names first."""

from __future__ import annotations

from diagnose.casebase.store import Casebase
from diagnose.pipeline import diagnose

ORDINAL = b"""Traceback (most recent call last):
  File "/home/u/train.py", line 9, in <module>
    net = Net().to(config.device)
  File "/x/site-packages/torch/nn/modules/module.py", line 1355, in to
    return self._apply(convert)
RuntimeError: CUDA error: invalid device ordinal
"""
ELSEWHERE = b"""Traceback (most recent call last):
  File "/home/u/train.py", line 9, in <module>
    main()
  File "/home/u/train.py", line 5, in main
    y = x + torch.ones(3, device="cuda:0")
RuntimeError: Expected all tensors to be on the same device, but found at least two devices, cuda:1 and cuda:0!
"""


def kinds(log: bytes, cause: str, casebase: Casebase) -> list[str]:
    causes = diagnose(log, "-", casebase=casebase).causes
    [found] = [one for one in causes if one.id == cause]
    return [fix.kind for fix in found.fixes]


def test_a_gpu_that_is_not_there_is_asked_for_otherwise_first(casebase: Casebase) -> None:
    assert kinds(ORDINAL, "hardcoded-device", casebase)[0] == "change-launch-flag"


def test_a_device_that_is_written_down_is_replaced_first(casebase: Casebase) -> None:
    assert kinds(ELSEWHERE, "hardcoded-device", casebase).index("change-launch-flag") > 3


BROADCAST = b"""Traceback (most recent call last):
  File "/home/u/fit.py", line 31, in main
    dist.broadcast(p.data, src=0)
  File "/x/site-packages/torch/distributed/distributed_c10d.py", line 1570, in broadcast
    work = group.broadcast([tensor], opts)
RuntimeError: Tensors must be CUDA and dense
"""
SECOND = b"""Traceback (most recent call last):
  File "/home/u/fit.py", line 31, in main
    far = self.teacher(x)
  File "/x/site-packages/torch/nn/modules/linear.py", line 134, in forward
    return F.linear(input, self.weight, self.bias)
RuntimeError: Expected all tensors to be on the same device, but got mat1 is on cuda:0, different from other tensors on cpu (when checking argument in method wrapper_CUDA_addmm)
"""


def example(log: bytes, casebase: Casebase) -> str:
    causes = diagnose(log, "-", casebase=casebase).causes
    [found] = [one for one in causes if one.id == "module-not-moved"]
    [fix] = [one for one in found.fixes if one.kind == "move-module"]
    return fix.code or ""


def test_the_example_of_a_fix_fits_what_failed(casebase: Casebase) -> None:
    assert "broadcast" in example(BROADCAST, casebase)
    assert "teacher" in example(SECOND, casebase)
    assert "teacher" not in example(SECOND.replace(b"self.teacher", b"policy"), casebase)


KERNEL = b"""Traceback (most recent call last):
  File "/home/u/%b", line 31, in main
    y = net(x)
%b  File "/x/site-packages/triton/backends/nvidia/driver.py", line 365, in __call__
    self.launch(*args, **kwargs)
ValueError: Pointer argument (at 0) cannot be accessed from Triton (cpu tensor?)
"""
COMPILED = b"""  File "/x/site-packages/torch/_inductor/utils.py", line 1977, in run
    return model(new_inputs)
"""


def test_a_compiled_kernel_is_first_run_without_the_compiler(casebase: Casebase) -> None:
    assert kinds(KERNEL % (b"paint.py", COMPILED), "kernel-needs-gpu", casebase)[0] == (
        "disable-compile"
    )
    assert (
        "disable-compile"
        not in kinds(KERNEL % (b"paint.py", b""), "kernel-needs-gpu", casebase)[:3]
    )


def test_where_parts_are_offloaded_a_kernel_gets_what_waits_on_the_cpu(casebase: Casebase) -> None:
    log = KERNEL % (b"paint_offload.py", b"")
    assert kinds(log, "kernel-needs-gpu", casebase)[0] == "disable-offload"
