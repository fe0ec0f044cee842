"""Notebooks are mended in their code cells, and all else of them stays as it is, to the letter."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from diagnose.casebase.store import load
from diagnose.checking.checking import check, mend, write
from diagnose.checking.model import Options

HERE = Path(__file__).parent / "notebooks"
#: As `nbformat.write` writes it, with outputs of each kind; and after all fixes.
NOTEBOOK, AFTER = HERE / "jupyter.ipynb", HERE / "jupyter.out.ipynb"
HEAD = "import torch\nfrom torch import nn\n"
MODEL = """\
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 8)

    def forward(self, x):
        mask = torch.ones(x.shape[0], 8)
        return self.fc(x) * mask
"""
RUN = "device = 'cuda'\nmodel = Net()\nx = torch.rand(2, 8, device=device)\nmodel(x)"
FIXED = "mask = torch.ones(x.shape[0], 8, device=x.device)"
MOVED = "model = Net().to(device)"


def code(text: str) -> dict[str, object]:
    """A code cell as Jupyter writes it, with an output."""
    return {
        "cell_type": "code",
        "execution_count": 3,
        "metadata": {"tags": ["modèle"]},
        "outputs": [{"name": "stdout", "output_type": "stream", "text": ["1.0e-05 \u2713\n"]}],
        "source": text.splitlines(keepends=True),
    }


CELLS = [
    {"cell_type": "markdown", "metadata": {}, "source": ["# Modèle\n", "mask = torch.ones(3)"]},
    code("%matplotlib inline\n" + HEAD),
    code("%%bash\nls *"),
    code(MODEL),
    code(RUN),
]


def fixed(path: Path) -> int:
    """Makes all fixes in a file; returns how many those were."""
    options = Options(frozenset(rule.id for rule in load().checks()))
    report, mended = mend(check([str(path)], options), [str(path)], options, unsafe=True)
    assert write(mended) == ()
    return report.fixed


@pytest.mark.parametrize(
    "written",
    [
        lambda document: json.dumps(document, indent=1, ensure_ascii=False) + "\n",
        lambda document: json.dumps(document, indent=2),
        lambda document: json.dumps(document),
    ],
    ids=["Jupyter", "indented", "one line"],
)
def test_only_the_lines_of_code_change(tmp_path: Path, written: Callable[[object], str]) -> None:
    path = tmp_path / "n.ipynb"
    document = {"cells": CELLS, "metadata": {"a": 1.5}, "nbformat": 4, "nbformat_minor": 5}
    path.write_text(written(document), encoding="utf-8")
    assert fixed(path) == 2
    before, after = "mask = torch.ones(x.shape[0], 8)", "model = Net()\\n"
    want = written(document).replace(before, FIXED).replace(after, MOVED + "\\n")
    assert path.read_text(encoding="utf-8") == want


def test_a_cell_whose_code_is_one_text(tmp_path: Path) -> None:
    path = tmp_path / "n.ipynb"
    cells = [{**cell, "source": "".join(cell["source"])} for cell in CELLS]  # type: ignore[arg-type]
    path.write_text(json.dumps({"cells": cells}))
    assert fixed(path) == 2
    sources = [cell["source"] for cell in json.loads(path.read_text())["cells"]]
    assert FIXED in sources[3]
    assert MOVED in sources[4]
    assert sources[:3] == [cell["source"] for cell in cells[:3]]


def compact(document: object) -> str:
    """As some sites write notebooks."""
    return json.dumps(document, separators=(",", ":"), ensure_ascii=False)


@pytest.mark.parametrize(
    "written",
    [
        compact,
        lambda document: json.dumps(document, indent=3),
        lambda document: json.dumps(document, indent="\t", ensure_ascii=False).replace(": ", " : "),
        lambda document: compact(document).replace("/", "\\/").replace("3,", "3e0,"),
        lambda document: "\ufeff" + compact(document),
    ],
    ids=["compact", "odd indentation", "tabs", "other numbers and escapes", "a byte order mark"],
)
def test_whatever_writes_it_only_lines_of_code_change(
    tmp_path: Path, written: Callable[[object], str]
) -> None:
    path = tmp_path / "n.ipynb"
    document = {"metadata": {"url": "https://a/b"}, "cells": CELLS, "nbformat": 4}
    path.write_text(written(document), encoding="utf-8")
    assert fixed(path) == 2
    before, after = "mask = torch.ones(x.shape[0], 8)", "model = Net()\\n"
    want = written(document).replace(before, FIXED).replace(after, MOVED + "\\n")
    assert path.read_text(encoding="utf-8") == want


def test_a_notebook_of_jupyter(tmp_path: Path, renew: bool) -> None:
    path = tmp_path / "n.ipynb"
    shutil.copy(NOTEBOOK, path)
    assert fixed(path) == 2
    if renew:
        shutil.copy(path, AFTER)
    assert path.read_bytes() == AFTER.read_bytes()
    before, after = (one.read_bytes().splitlines() for one in (NOTEBOOK, AFTER))
    changed = [
        (old.decode(), new.decode()) for old, new in zip(before, after, strict=True) if old != new
    ]
    assert [old.strip() for old, _ in changed] == [
        '"        mask = torch.ones(x.shape[0], 8)  # « masque »\\n",',
        '"model = Net()\\n",',
    ]
    assert [new.strip() for _, new in changed] == [
        f'"        {FIXED}  # « masque »\\n",',
        f'"{MOVED}\\n",',
    ]


def test_a_cell_with_carriage_returns_is_left(tmp_path: Path) -> None:
    path = tmp_path / "n.ipynb"
    cells = [*CELLS[:3], code(MODEL.replace("\n", "\r\n")), CELLS[4]]
    path.write_text(json.dumps({"cells": cells}))
    assert fixed(path) == 1
    assert json.loads(path.read_text())["cells"][3] == cells[3]


def test_a_notebook_in_another_encoding_is_checked_and_left(tmp_path: Path) -> None:
    path = tmp_path / "n.ipynb"
    data = json.dumps({"cells": CELLS}, ensure_ascii=False).encode("utf-16")
    path.write_bytes(data)
    options = Options(frozenset(rule.id for rule in load().checks()))
    assert [one.place.cell for one in check([str(path)], options).findings] == [4]
    assert fixed(path) == 0
    assert path.read_bytes() == data


def test_a_line_with_a_magic_is_left(tmp_path: Path) -> None:
    path = tmp_path / "n.ipynb"
    path.write_text(json.dumps({"cells": [code(HEAD), code("%%time\n" + MODEL), code(RUN)]}))
    assert fixed(path) == 2
    cell = json.loads(path.read_text())["cells"][1]
    assert cell["source"][0] == "%%time\n"


def test_what_a_notebook_imports_is_mended_in_its_own_file(tmp_path: Path) -> None:
    """The edit is of lines of the module, of which the notebook has fewer."""
    module = "import torch\nfrom torch import nn\n" + "\n" * 40 + MODEL
    (tmp_path / "nets.py").write_text(module)
    cells = [
        code(
            "import torch\nfrom nets import Net\n"
            + RUN.replace("model = Net()", "model = Net().to(device)")
        )
    ]
    book = tmp_path / "use.ipynb"
    book.write_text(
        json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
    )
    options = Options(frozenset(rule.id for rule in load().checks()), likely=True)
    report = check([str(book)], options)
    assert [(one.id, Path(one.place.file).name) for one in report.findings] == [
        ("created-without-device", "nets.py")
    ]
