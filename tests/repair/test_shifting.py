"""A patched program with the numbers of its GPUs raised, first everywhere, then but in the edits."""

from __future__ import annotations

from pathlib import Path

import pytest

from diagnose.repair.runs.gpu_offsets import shifts
from diagnose.repair.workspace import Workspace


@pytest.mark.parametrize(
    ("before", "after", "everywhere", "apart", "current"),
    [
        (
            'D = "cuda:0"\nx = ones(4)\n',
            'D = "cuda:0"\nx = ones(4, device="cuda:0")\n',
            'D = "cuda:1"\nx = ones(4, device="cuda:1")\n',
            'D = "cuda:1"\nx = ones(4, device="cuda:0")\n',
            1,
        ),
        (  # what the replaced line said, the edit did not write down
            'x = x.to("cuda:1")\ny = x\n',
            'x = x.to("cuda:1", torch.long)\ny = x\n',
            None,
            None,
            None,
        ),
        (  # a bare "cuda" is the current GPU, which here only the edit asks for
            'D = "cuda:0"\nx = ones(4)\n',
            'D = "cuda:0"\nx = ones(4).cuda()\n',
            'D = "cuda:1"\nx = ones(4).cuda()\n',
            'D = "cuda:1"\nx = ones(4).cuda()\n',
            0,
        ),
        (  # numbers that a program computes, or that stand by themselves
            'D = torch.device("cuda", args.gpu)\ntorch.cuda.set_device(local_rank)\nx = ones(4)\n',
            'D = torch.device("cuda", args.gpu)\ntorch.cuda.set_device(local_rank)\nx = ones(4).to("cuda:0")\n',
            'D = torch.device("cuda", args.gpu + 1)\ntorch.cuda.set_device(local_rank + 1)\nx = ones(4).to("cuda:1")\n',
            'D = torch.device("cuda", args.gpu + 1)\ntorch.cuda.set_device(local_rank + 1)\nx = ones(4).to("cuda:0")\n',
            1,
        ),
        (
            'x = x.cuda(0).cuda(d)\nD = f"cuda:{rank}"\n',
            'x = x.cuda(0).cuda(d)\nD = f"cuda:{rank}"\ny.to("cuda:0")\n',
            'x = x.cuda(0 + 1).cuda(d)\nD = f"cuda:{rank + 1}"\ny.to("cuda:1")\n',
            'x = x.cuda(0 + 1).cuda(d)\nD = f"cuda:{rank + 1}"\ny.to("cuda:0")\n',
            1,
        ),
        ('D = "cuda"\nx = ones(4)\n', 'D = "cuda"\nx = ones(4).cuda()\n', None, None, None),
        ("x = ones(4)\n", "x = ones(4, device=D)\n", None, None, None),
    ],
)
def test_gpus_are_raised(
    tmp_path: Path,
    before: str,
    after: str,
    everywhere: str | None,
    apart: str | None,
    current: int | None,
) -> None:
    user = tmp_path / "user"
    user.mkdir()
    (user / "train.py").write_text(before)
    (user / "other.py").write_text('y = "cuda:10"\n')
    found = shifts(Workspace(user, tmp_path / "home"), {"train.py": after})
    if everywhere is None:
        assert found is None
        return
    assert found is not None
    other = {"other.py": 'y = "cuda:11"\n'}
    assert found[0].texts == other | {"train.py": everywhere} and found[0].current == 1
    assert found[1].texts == other | {"train.py": apart} and found[1].current == current
