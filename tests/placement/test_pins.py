"""A script that pins the library in whose code it fails is edited where it does."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from diagnose.casebase.store import Casebase
from diagnose.model import Diagnosis
from diagnose.pipeline import diagnose
from diagnose.placement import Source
from diagnose.scene.settings import pinned
from diagnose.sources import Folder, Sources

METADATA = {
    "pinned": ('# /// script\n# dependencies = ["torch", "transformers==4.51.3"]\n# ///', "4.51.3"),
    "over lines": (
        '# /// script\n# dependencies = [\n#   "Transformers == 4.1",\n# ]\n# ///',
        "4.1",
    ),
    "a range": ('# /// script\n# dependencies = ["transformers>=4.51.3"]\n# ///', None),
    "another": ('# /// script\n# dependencies = ["transformers-stream==0.1"]\n# ///', None),
    "a comment": ('# "transformers==4.51.3"', None),
    "below it": ('# /// script\n# dependencies = []\n# ///\n# "transformers==4.51.3"', None),
    "never closed": ('# /// script\nx = 1\n# "transformers==4.51.3"', None),
}


@pytest.mark.parametrize("name", METADATA)
def test_the_metadata_of_a_script_pins_a_release(name: str) -> None:
    text, release = METADATA[name]
    source = Source("/home/u/run.py", text.split("\n"), ast.parse(text))
    spot = pinned([source], "transformers")
    assert (spot is not None) == (release is not None)
    if spot is not None:
        assert isinstance(spot.node, ast.Constant)
        assert release in str(spot.node.value)
        assert release in spot.code
    assert pinned([source, source], "transformers") is None


SCRIPT = """\
# /// script
# dependencies = ["torch", "transformers==4.57.6", "accelerate"]
# ///
from transformers import AutoModel

model = AutoModel.from_pretrained("x", device_map=PLAN)
def run(ids):
    return model(input_ids=ids)
run(IDS)
"""
INSIDE = """\
  File "/x/site-packages/transformers/models/switch_transformers/modeling_switch_transformers.py", line 1710, in _unpack
    return torch.cat(total, dim=1)
           ^^^^^^^^^^^^^^^^^^^^^^^
"""
MESSAGE = (
    "RuntimeError: Expected all tensors to be on the same device, but found at least two devices, cuda:0 and "
    "cuda:1! (when checking argument for argument tensors in method wrapper_CUDA_cat)"
)


def answer(folder: Path, casebase: Casebase, *, inside: str = INSIDE) -> Diagnosis:
    (folder / "run.py").write_text(SCRIPT)
    log = f"""\
Traceback (most recent call last):
  File "{folder}/run.py", line 9, in <module>
    run(IDS)
  File "{folder}/run.py", line 8, in run
    return model(input_ids=ids)
           ^^^^^^^^^^^^^^^^^^^^
{inside}{MESSAGE}
"""
    sources = Sources((Folder(str(folder)),), read=None)
    return diagnose(log.encode(), casebase=casebase, sources=sources)


def test_the_pin_is_the_line_where_the_library_fails_by_itself(
    tmp_path: Path, casebase: Casebase
) -> None:
    found = answer(tmp_path, casebase)
    assert found.causes[0].id in ("cross-shard-op", "library-version-bug")
    assert found.culprit is not None
    assert (found.culprit.line, found.basis) == (2, "source")
    patch = found.causes[0].fixes[0].patch or ""
    assert '+# dependencies = ["torch", "transformers>4.57.6", "accelerate"]' in patch


def test_the_pin_is_not_the_line_where_the_users_own_code_fails(
    tmp_path: Path, casebase: Casebase
) -> None:
    found = answer(tmp_path, casebase, inside="")
    assert found.causes[0].id == "cross-shard-op"
    assert found.culprit is not None
    assert found.culprit.line == 8
    assert not any("transformers>" in (fix.patch or "") for fix in found.causes[0].fixes)
