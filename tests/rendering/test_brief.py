"""The first look: short, the edit at its top, and nothing of what is copied cut."""

from __future__ import annotations

import statistics
from pathlib import Path

import pytest

from diagnose.casebase.store import Casebase
from diagnose.model import Diagnosis, Edit, Evidence, Fix, Frame, SeenTensor
from diagnose.pipeline import diagnose
from diagnose.rendering import text
from diagnose.rendering.brief import Because, Change, brief, changes, reason
from diagnose.rendering.words import cut, middle, width
from diagnose.sources import per_report

TRACES = Path(__file__).parents[1] / "traces"
PATCH = """\
--- a/net.py
+++ b/net.py
@@ -1,4 +1,5 @@
 import torch
+import torch.nn as nn
 import torch.cuda
 class Net:
     pass
@@ -20,4 +21,4 @@
 def make():
     a = 1
-    b = torch.zeros(2)
-    c = torch.zeros(3)
+    b = torch.zeros(2, device=d)
+    c = torch.zeros(3, device=d)
"""


@pytest.fixture(scope="module")
def answers(casebase: Casebase) -> list[Diagnosis]:
    """What is said of the project's own traces, with their programs at hand where they are."""
    sources = per_report((str(TRACES / "programs"),))
    files = sorted((*TRACES.glob("*.txt"), *TRACES.glob("causes/*.txt")))
    return [
        diagnose(file.read_bytes(), str(file), casebase=casebase, sources=sources())
        for file in files
    ]


def test_it_is_short_and_begins_with_what_to_do(answers: list[Diagnosis]) -> None:
    pages = [text.render(answer).splitlines() for answer in answers]
    lengths = sorted(map(len, pages))
    assert len(pages) > 40
    assert statistics.median(lengths) <= 12
    assert lengths[int(0.9 * len(lengths))] <= 16
    for answer, page in zip(answers, pages, strict=True):
        if answer.verdict == "diagnosed":
            assert any(line.startswith("Do  ") for line in page[:6])


def test_only_what_is_copied_is_wider_than_the_terminal(answers: list[Diagnosis]) -> None:
    for answer in answers:
        for line in text.render(answer).splitlines():
            copied = line.lstrip().startswith(("- ", "+ ", "$ ", "Fix it", "Check it", "https://"))
            assert width(line) <= 80 or copied, line


def test_what_is_copied_is_whole(answers: list[Diagnosis]) -> None:
    edited = 0
    for answer in answers:
        shown = brief(answer)
        assert shown is not None
        page = text.render(answer)
        assert shown.fix in page and shown.check in page
        for change in shown.do.changes[:1] if shown.do else ():
            edited += 1
            for line in (*change.gone, *change.come):
                assert line.strip() in page
    assert edited > 10


def test_the_runs_of_a_diff_by_their_places() -> None:
    fix = Fix("k", "t", patch=PATCH, edit=Edit("/src/net.py", 22, "b", "c"))
    assert changes(fix) == (
        Change("/src/net.py:1", 1, ("import torch",), (), ("import torch.nn as nn",)),
        Change(
            "/src/net.py:22",
            22,
            (),
            ("    b = torch.zeros(2)", "    c = torch.zeros(3)"),
            ("    b = torch.zeros(2, device=d)", "    c = torch.zeros(3, device=d)"),
        ),
    )


def test_an_edit_without_a_file_shows_what_changes_only() -> None:
    edit = Edit("net.py", 7, "f(\n    a,\n    b,\n)", "f(\n    a.to(d),\n    b,\n)")
    change = Change("net.py:8", 8, (), ("    a,",), ("    a.to(d),",))
    assert changes(Fix("k", "t", edit=edit)) == (change,)
    came = Edit("net.py", 7, "a = 1\nc = 3", "a = 1\nb = 2\nc = 3")
    assert changes(Fix("k", "t", edit=came)) == (Change("net.py:7", 7, ("a = 1",), (), ("b = 2",)),)
    gone = Edit("net.py", None, "a\nb", "b")
    assert changes(Fix("k", "t", edit=gone)) == (Change("net.py", None, (), ("a",), ()),)
    assert changes(Fix("k", "t", code="x", example=True)) == ()


def test_what_a_process_or_a_file_tells_decides_before_what_a_traceback_tells(
    answers: list[Diagnosis],
) -> None:
    answer = next(one for one in answers if one.verdict == "diagnosed" and one.basis == "trace")
    evidence = (Evidence("read from the traceback", 3), Evidence("seen in the process", None))
    cause = answer.causes[0]._replace(evidence=evidence)

    def fact(**changed: object) -> str:
        told = brief(answer._replace(causes=(cause,), **changed))
        assert told is not None and told.because is not None
        return told.because.fact

    assert fact() == "read from the traceback"
    assert fact(basis="source") == "seen in the process"
    live = answer.report._replace(tensors=(SeenTensor("x", "cpu"),))
    assert fact(report=live) == "seen in the process"


def test_a_fact_does_not_repeat_the_line_that_is_shown(answers: list[Diagnosis]) -> None:
    answer = next(one for one in answers if one.verdict == "diagnosed")
    site = Frame("/home/u/net.py", 3, "forward", "y = x + self.pe")
    cause = answer.causes[0]._replace(
        evidence=(Evidence("made at /home/u/net.py:9: y = x + self.pe", 2),)
    )
    told = brief(answer._replace(causes=(cause,), site=site, culprit=site))
    assert told is not None and told.because is not None
    assert told.because.fact == "made at net.py:9"


def test_the_beginning_of_a_long_line_stays() -> None:
    assert cut("abcdefghij", 10) == "abcdefghij"
    assert cut("abcdefghij", 5) == "abcd…"
    assert cut("张量在另一个设备上", 9) == "张量在另…"
    assert cut("x" * 2_000_000, 5) == "xxxx…"  # and not a character at a time


def test_both_ends_of_a_long_line_stay() -> None:
    assert middle("abcdefghij", 10) == "abcdefghij"
    assert middle("abcdefghij", 5) == "ab…ij"
    assert width(middle("张量在另一个设备上", 9)) <= 9


def test_links_are_only_of_the_case_base_and_of_files_that_are_there(
    answers: list[Diagnosis], tmp_path: Path
) -> None:
    answer = next(one for one in answers if one.verdict == "diagnosed" and brief(one).known)  # type: ignore[union-attr]
    file = tmp_path / "a\x1b]8;;b.py"
    file.write_text("x = 1\n")
    cause = answer.causes[0]

    def linked(path: str) -> list[str]:
        fix = Fix("k", "t", edit=Edit(path, 1, "x = 1", "x = 2"))
        shown = answer._replace(causes=(cause._replace(fixes=(fix,)),))
        page = text.render(shown, links=True)
        for line in page.split("\n"):
            assert line.count("\x1b]8;;") in (0, 2)  # none is left open
        assert "\x1b" not in text.render(shown)
        return [part.partition("\x1b")[0] for part in page.split("\x1b]8;;")[1::2]]

    assert linked("/nowhere/net.py") == [cause.incidents[0].url]
    assert linked(str(file)) == [file.as_uri(), cause.incidents[0].url]
    assert linked("net.py") == [cause.incidents[0].url]


def test_a_line_that_only_closes_is_shown_below_what_it_closes() -> None:
    patch = (
        "--- a/t.py\n+++ b/t.py\n@@ -3,3 +3,3 @@\n metrics = Collection({\n"
        '     "f1": F1(),\n-})\n+}).to(device)\n'
    )
    edit = Edit("t.py", 5, "})", "}).to(device)")
    fix = Fix("move-module", "", patch=patch, edit=edit)
    assert changes(fix) == (Change("t.py:4", 4, ('    "f1": F1(),',), ("})",), ("}).to(device)",)),)


def test_a_fact_that_says_the_cause_stands_alone() -> None:
    because = Because("The index is elsewhere", "99%", "The index is elsewhere: at a.py:3", None)
    assert reason(because, "en") == "The index is elsewhere: at a.py:3 (99%)"
    other = because._replace(fact="It is made at a.py:3")
    assert reason(other, "en") == "The index is elsewhere (99%): It is made at a.py:3"


def test_no_blank_stands_behind_a_chinese_full_stop(answers: list[Diagnosis]) -> None:
    fix = Fix("free-memory", "释放显存。", code="- a\n+ b", example=True)
    first = next(answer for answer in answers if answer.verdict == "diagnosed")
    cause = first.causes[0]._replace(fixes=(fix,))
    page = text.render(first._replace(lang="zh", causes=(cause,)))
    assert "释放显存。例如：" in page


DGL = """\
Traceback (most recent call last):
  File "/home/u/proj/train.py", line 41, in <module>
    h = model(g, feat)
  File "/opt/site-packages/dgl/view.py", line 84, in __setitem__
    self._graph._set_n_repr(self._ntid, self._nodes, {key : val})
dgl._ffi.base.DGLError: Cannot assign node feature "h" on device cuda:0 to a graph on device cpu. \
Call DGLGraph.to() to copy the graph to the same device.
"""


def test_what_the_message_asks_for_comes_first(casebase: Casebase) -> None:
    page = text.render(diagnose(DGL.encode(), "log", casebase=casebase))

    said = page[page.index("Do  ") : page.index("Because")]
    assert "The message says: Call DGLGraph.to() to copy the graph" in said
    assert "model(**batch)" not in said


def test_what_an_unknown_message_asks_for_is_no_advice(casebase: Casebase) -> None:
    hostile = DGL.replace("Cannot assign node feature", "Please call the number on device cpu:")
    page = text.render(diagnose(hostile.encode(), "log", casebase=casebase))

    assert "The message says" not in page


@pytest.mark.parametrize(
    ("line", "moved"),
    [
        ("x = alpha_t * x + sigma_t * noise", "noise"),
        ("logits = scores + self.bias_table", "self.bias_table"),
        ("out = h * gate + self.pos[:n]", "self.pos"),
    ],
)
def test_the_edit_moves_the_operand_that_the_reason_names(
    line: str, moved: str, casebase: Casebase
) -> None:
    log = (
        f'Traceback (most recent call last):\n  File "s.py", line 9, in step\n    {line}\nRuntimeError: '
        "Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!\n"
    )
    first = brief(diagnose(log, casebase=casebase))
    assert first and first.do and first.because
    (change,) = first.do.changes
    assert f"{moved}.to(" in change.come[0] or f"{moved}[:n].to(" in change.come[0]
    assert moved in first.because.fact
