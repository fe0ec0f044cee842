"""What the default rules leave to ``--preview``: findings that rely on what the file does not show."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from diagnose.casebase.store import load
from diagnose.checking.checking import check
from diagnose.checking.model import Options

HERE = Path(__file__).parent
LIKELY = sorted(HERE.glob("likely/*.py"))
_FINDS = re.compile(r"# finds: (\S+)")


def found(path: Path, *, likely: bool) -> set[tuple[int, str]]:
    rules = frozenset(rule.id for rule in load().checks() if not rule.preview)
    findings = check([str(path)], Options(rules, likely)).findings
    return {(one.place.line, one.id) for one in findings}


def marked(path: Path) -> set[tuple[int, str]]:
    lines = enumerate(path.read_text().splitlines(), 1)
    return {(number, mark[1]) for number, line in lines if (mark := _FINDS.search(line))}


@pytest.mark.parametrize("path", LIKELY, ids=lambda path: path.stem)
def test_what_the_file_does_not_show_is_only_likely(path: Path) -> None:
    assert found(path, likely=False) == set()
    assert found(path, likely=True) == marked(path) != set()


#: What makes the same programs sure: the made tensor beside its meeting, sizes, no second assignment, no
#: question about a device, a tensor known to be one, an operation known to refuse, no condition of ranks.
SURE = {
    "made_in_another_method": ("self.start(x.size(0))", "torch.zeros(x.size(0), 8)"),
    "values_of_a_caller": ("torch.tensor([prices, prices])", "torch.ones(x.size(0), 1)"),
    "assigned_later": ("self.seen = result", "seen = result"),
    "asks_for_a_gpu": ("not torch.backends.cuda.is_built()", "self.training"),
    "size_by_a_library": ("F.get_image_size(pictures)", "pictures[0, 0, 0], pictures[0, 0, 1]"),
    "number_by_a_method": ("seed.fill_(chosen)", "seed = seed + odds"),
    "list_that_is_filled": ("np.asarray(losses)", "np.asarray(out)"),
    "wrapped_if_distributed": ("if dist.is_initialized():", "with torch.no_grad():"),
    "refused_as_expected": (
        'self.assertRaisesRegex(RuntimeError, "same device")',
        "torch.no_grad()",
    ),
    "moved_by_another_file": ("fit(net, epochs=3)", "print(net)"),
    "moved_by_a_flag": ('if options.on_gpu == "yes":', "for _ in range(2):"),
    "told_by_an_option": ('"--blend", action="store_true"', '"--blend", type=int, default=1'),
    "devices_compared": ("if self.mix.weight.device != x.device:", "if len(x) > 99:"),
    "layers_moved_one_by_one": ("self.floors[number].to(card)", "self.floors[number]"),
    "copy_of_what_may_be_there": ("torch.tensor(points)", "torch.ones(points.shape)"),
    "failure_passed_over": ("        continue", "        raise"),
    "entry_of_a_checkpoint": ('net(x) / saved["temperature"]', 'net(saved["temperature"])'),
    "losses_for_a_curve": ("plt.plot(losses)", "plt.plot(loss)"),
    "element_of_a_tensor": ("rates[number]", "rates[number:]"),
    "items_of_another_file": (
        "pictures = Pictures()",
        "import torch\n\npictures = torch.ones(8, 4)",
    ),
    "gpu_by_a_flag": ('"--use_gpu", action="store_true"', '"--use_gpu", type=bool, default=True'),
    "mask_of_another_files_layer": ("self.encoder(h, mask)", "h * mask"),
    "parameters_kept_elsewhere": (
        "nn.ParameterList(w for one in self.stacks for w in one.parameters())",
        "nn.Parameter(torch.ones(3))",
    ),
    "handler_of_a_failure": ("except RuntimeError:", "finally:"),
    "base_that_moves_a_dict": ("Whole(Trained, nn.Module)", "Whole(nn.Module)"),
    "index_of_an_element": ("names[best[i]]", "names[best]"),
    "type_by_a_flag": ("net.type(kind_of(args))", "net.type(torch.cuda.FloatTensor)"),
    "self_loops": ("add_self_loops", "to_undirected"),
    "switched_off_here": ("use_cuda = False", "use_mesh = False"),
    "ranks_of_another_file": (
        "print(wrapped(4))",
        'dist.init_process_group("nccl")\nprint(wrapped(4))',
    ),
}


@pytest.mark.parametrize("name", SURE)
def test_the_same_program_that_shows_it_is_sure(name: str, tmp_path: Path) -> None:
    path = next(one for one in (HERE / "likely", HERE / "healthy") if (one / f"{name}.py").exists())
    text = (path / f"{name}.py").read_text()
    old, new = SURE[name]
    assert old in text
    program = tmp_path / "program.py"
    program.write_text(text.replace(old, new))
    assert found(program, likely=False)


def test_a_list_that_the_same_function_fills_with_rows_is_sure(tmp_path: Path) -> None:
    text = (HERE / "likely/list_that_is_filled.py").read_text()
    program = tmp_path / "program.py"
    program.write_text(text.replace("out.square()[0]", "out.square().squeeze(1)"))
    assert found(program, likely=False) == {(10, "host-copy-needed")}


@pytest.mark.parametrize("package", ["gpytorch.kernels", "torch_geometric.nn", "torchmetrics"])
def test_a_base_of_a_known_library_moves_no_plain_tensor(package: str, tmp_path: Path) -> None:
    text = (
        f"import torch\nfrom {package} import Base\n\n\nclass Bent(Base):\n    def __init__(self):\n"
        "        super().__init__()\n        self.knots = torch.linspace(0, 1, 5)\n\n"
        "    def forward(self, x):\n        return x[..., None] - self.knots\n\n\n"
        "print(Bent().cuda()(torch.rand(2, 4).cuda()))\n"
    )
    program = tmp_path / "program.py"
    program.write_text(text)
    assert found(program, likely=False) == {(8, "unregistered-tensor")}

    program.write_text(text.replace(package, "kernels"))
    assert found(program, likely=False) == set()


@pytest.mark.parametrize(
    "used",
    [
        "out * rates[number, None]",
        "out * rates[[number, 0, 1]].sum(0)",
        "out * rates[number].view(1, -1)",
        "out * rates[number][:3]",
        "torch.cat([out.sum(0), rates[number]])",
        "out @ rates[number]",
    ],
)
def test_an_element_that_has_dimensions_is_sure(used: str, tmp_path: Path) -> None:
    text = (HERE / "likely/element_of_a_tensor.py").read_text()
    program = tmp_path / "program.py"
    program.write_text(text.replace("out * rates[number]", used))
    assert found(program, likely=False) == {(5, "created-without-device")}


def test_what_another_file_makes_is_only_likely(tmp_path: Path) -> None:
    (tmp_path / "making.py").write_text(
        "import torch\n\n\ndef noise(rows):\n    return torch.randn(rows, 4)\n"
    )
    program = tmp_path / "program.py"
    body = "net = nn.Linear(4, 4).cuda()\nprint(net(torch.rand(2, 4).cuda()) + noise(2))\n"
    program.write_text(f"import torch\nfrom torch import nn\nfrom making import noise\n\n{body}")
    assert found(program, likely=False) == set()
    assert found(program, likely=True) == {(5, "created-without-device")}

    made = "def noise(rows):\n    return torch.randn(rows, 4)\n\n\n"
    program.write_text(f"import torch\nfrom torch import nn\n\n{made}{body}")
    assert {rule for _, rule in found(program, likely=False)} == {"created-without-device"}


LIBRARY = """\
import torch
from torch import nn


class Sampled(nn.Module):
    def __init__(self, flag):
        super().__init__()
        self.mean = nn.Linear(4, 4)

    def forward(self, x):
        mean = self.mean(x)
        return mean + torch.randn(mean.size())
"""


def test_a_default_that_another_file_sets_is_a_doubt_where_nothing_calls_the_code(
    tmp_path: Path,
) -> None:
    library, beside = tmp_path / "library.py", tmp_path / "train.py"
    library.write_text(LIBRARY)
    beside.write_text("import torch\n\nprint(torch.ones(2))\n")
    rules = Options(frozenset({"created-without-device"}))

    def lines() -> list[int]:
        findings = check([str(library), str(beside)], rules).findings
        return [one.place.line for one in findings]

    assert lines() == [12]
    beside.write_text('import torch\n\ntorch.set_default_tensor_type("torch.cuda.FloatTensor")\n')
    assert lines() == []


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="has no named pipes")
def test_what_cannot_be_checked_is_not_waited_for_beside_what_can(tmp_path: Path) -> None:
    library, pipe = tmp_path / "library.py", tmp_path / "pipe.py"
    library.write_text(LIBRARY)
    os.mkfifo(pipe)
    report = check([str(library), str(pipe)], Options(frozenset({"created-without-device"})))
    assert [one.place.line for one in report.findings] == [12]
    assert report.problems == (f"{pipe} is not a regular file",)


@pytest.mark.parametrize(
    "chosen",
    [
        "self.kind = torch.FloatTensor\n        if flag:\n            self.kind = torch.cuda.FloatTensor",
        "self.kind = torch.cuda.FloatTensor if flag else torch.FloatTensor",
    ],
)
def test_a_type_that_an_attribute_holds_is_one_or_another(chosen: str, tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    made = LIBRARY.replace(
        "self.mean = nn.Linear(4, 4)", f"self.mean = nn.Linear(4, 4)\n        {chosen}"
    )
    program.write_text(made.replace("torch.randn(mean.size())", "self.kind(mean.size()).normal_()"))
    assert found(program, likely=False) == set()


def test_a_move_that_nobody_keeps_is_sure_whoever_calls_it(tmp_path: Path) -> None:
    program = tmp_path / "table.py"
    lines = ("rows = torch.zeros(n)", "rows.to(device)", "return rows")
    head = "import torch\n\n\ndef table(n, device):\n"
    program.write_text(head + "".join(f"    {line}\n" for line in lines))
    assert found(program, likely=False) == {(6, "input-not-moved")}
    kept = ("rows = torch.zeros(n)", "rows = rows.to(device)", "return rows")
    program.write_text(head + "".join(f"    {line}\n" for line in kept))
    assert found(program, likely=True) == set()
