"""`import package.module` binds the package, with the module in it."""

from __future__ import annotations

from pathlib import Path

import pytest

from diagnose.casebase.store import load
from diagnose.checking.checking import check
from diagnose.checking.model import Options

PARTS = "import torch\n\n\ndef mask(n):\n    return torch.ones(n)\n"
PROGRAM = """{imports}
import torch

rows = torch.ones(4, device="cuda")
print(rows * {call}(4))
"""


@pytest.mark.parametrize("with_init", [True, False])
@pytest.mark.parametrize(
    ("imports", "call"),
    [
        ("import shapes.masks", "shapes.masks.mask"),
        ("import shapes.other\nimport shapes.masks", "shapes.masks.mask"),
        ("import shapes.masks\nimport shapes.other", "shapes.masks.mask"),
        ("import shapes.masks as parts", "parts.mask"),
    ],
)
def test_a_function_of_a_package_is_followed(
    imports: str, call: str, with_init: bool, tmp_path: Path
) -> None:
    package = tmp_path / "shapes"
    package.mkdir()
    for name in ("masks", "other", *(["__init__"] if with_init else [])):
        (package / f"{name}.py").write_text(PARTS if name != "__init__" else "")
    program = tmp_path / "program.py"
    program.write_text(PROGRAM.format(imports=imports, call=call))
    options = Options(frozenset(rule.id for rule in load().checks()), likely=True)
    (found,) = check([str(program)], options).findings
    assert (Path(found.place.file).name, found.place.line) == ("masks.py", 5)
