"""Files that cannot be analysed cost the answer nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from diagnose.casebase.store import Casebase
from diagnose.pipeline import diagnose
from diagnose.sources import Folder, Sources

LINE = "out = model(batch)"
TRACE = f"""\
Traceback (most recent call last):
  File "/home/u/run.py", line 3, in <module>
    {LINE}
RuntimeError: Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!
"""


@pytest.mark.parametrize(
    "text",
    [
        f"print 'Python 2'\n\n{LINE}\n",
        f"def f(:\n\n{LINE}\n",
        f"{'(' * 500}\n\n{LINE}\n",
        f"x = [{'0, ' * 200_000}]\n\n{LINE}\n",
        f"x = {'-' * 20_000}1\n\n{LINE}\n",
    ],
)
def test_a_file_that_cannot_be_analysed(text: str, casebase: Casebase, tmp_path: Path) -> None:
    (tmp_path / "run.py").write_text(text)
    without = diagnose(TRACE, casebase=casebase)
    answer = diagnose(
        TRACE, casebase=casebase, sources=Sources((Folder(str(tmp_path)),), read=None)
    )
    assert answer.incomplete == ()
    assert [cause.id for cause in answer.causes] == [cause.id for cause in without.causes]
