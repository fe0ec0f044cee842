"""Where a documented bug of a library is at hand, an answer says what to upgrade to; else it says nothing."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from diagnose.casebase.store import Casebase, load
from diagnose.compiling.build import build
from diagnose.fixes.releases import known_bugs
from diagnose.model import Incident, IncidentMatch, Release, Report
from diagnose.pipeline import diagnose
from diagnose.rendering import full, markdown, text
from diagnose.rendering import json as as_json

CHANGE = "https://github.com/vllm-project/vllm/pull/1"
BUG = Release("vllm", ">=0.6.0,<0.7.1", "0.7.1", CHANGE)


def incident(key: str, *releases: Release) -> Incident:
    empty = ("", "c", "", "", "", "", (), ("vllm",), None, "", (), None, None, (), ())
    return Incident(key, *empty)._replace(releases=releases)


def bugs(*versions: str, release: Release = BUG, near: float = 0.9, frames: str = "vllm") -> list:
    report = Report("-", libraries=(frames,), versions=tuple(("vllm", one) for one in versions))
    match = IncidentMatch("a", "", "", near, "c")
    return [bug.version for bug in known_bugs([match], report, {"a": incident("a", release)})]


@pytest.mark.parametrize("one", ["0.6.0", "0.6.3.post1", "0.7.0", "0.7.0.dev3+g1a2b"])
def test_a_version_in_the_range_is_named(one: str) -> None:
    assert bugs(one) == [one]


# A pre-release of the fixed version is in no range that ends before that version.
@pytest.mark.parametrize("one", ["0.5.5", "0.7.1rc1", "0.7.1", "0.7.1.post1", "0.8.0", "1.0"])
def test_of_a_version_outside_the_range_nothing_is_said(one: str) -> None:
    assert bugs(one) == []


def test_an_unknown_version_may_be_one() -> None:
    assert bugs() == [None]
    assert bugs("main") == [None]


def test_of_several_versions_all_must_be_in_the_range() -> None:
    assert bugs("0.6.1", "0.6.3") == ["0.6.3"]
    assert bugs("0.6.1", "0.7.1") == [None]
    assert bugs("0.5.0", "0.7.1") == []


def test_an_incident_that_is_not_near_or_of_another_library_says_nothing() -> None:
    assert bugs("0.6.1", near=0.5) == []
    assert bugs("0.6.1", frames="transformers") == []


def test_each_range_is_told_once_and_several_are_told() -> None:
    report = Report("-", libraries=("vllm", "torch"), versions=(("vllm", "0.6.1"),))
    known = {
        "a": incident("a", BUG, Release("torch", "<2.1")),
        "b": incident("b", BUG, Release("vllm", "==0.6.*")),
    }
    matches = [IncidentMatch(key, "", "", 0.9, "c") for key in known]
    found = known_bugs(matches, report, known)
    assert [(bug.library, bug.version, bug.incident) for bug in found] == [
        ("vllm", "0.6.1", "a"),
        ("torch", None, "a"),
        ("vllm", "0.6.1", "b"),
    ]


def test_in_a_live_process_what_is_installed_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("diagnose.fixes.releases.installed", {"vllm": "0.6.2"}.get)
    report = Report("-", libraries=("vllm",), live=True)
    match = IncidentMatch("a", "", "", 0.9, "c")
    [bug] = known_bugs([match], report, {"a": incident("a", BUG)})
    assert bug.version == "0.6.2"


# --- from a log to the answer ---------------------------------------------------------------------------

TRACE = """\
{stated}
Traceback (most recent call last):
  File "/home/user/serve.py", line 9, in <module>
    llm.generate("x")
  File "/opt/lib/python3.11/site-packages/vllm/worker/worker.py", line 70, in step
    self.runner.execute(batch)
  File "/opt/lib/python3.11/site-packages/vllm/model_executor/models/llama.py", line 88, in forward
    return hidden + residual
RuntimeError: Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!
"""


@pytest.fixture(scope="module")
def planted(kb: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Casebase]:
    """A case base with an incident that is just this failure, a bug of vllm."""
    copy = tmp_path_factory.mktemp("kb") / "kb"
    shutil.copytree(kb, copy, ignore=shutil.ignore_patterns("cases"))
    one = copy / "cases/vllm-residual-on-cpu"
    one.mkdir(parents=True)
    (one / "reproduce.py").write_text("print(1)\n", encoding="utf-8")
    (one / "trace.txt").write_text(TRACE.format(stated=""), encoding="utf-8")
    (one / "case.toml").write_text(CASE, encoding="utf-8")
    target = copy.parent / "casebase.sqlite"
    build(copy, target)
    return lambda lang: load(target, lang)


CASE = f"""
id = "vllm-residual-on-cpu"
cause = "library-version-bug"
exception = "RuntimeError"
message = "Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!"
devices = ["cuda:0", "cpu"]
libraries = ["vllm"]
frames = ["vllm/model_executor/models/llama.py forward"]
fixes = ["upgrade-library"]
gpus = 1
needs = ["torch"]
[en]
title = "vllm: the residual stays on the cpu"
saw = "It."
was = "That."
mended = "This."
[zh]
title = "vllm：残差留在 CPU 上"
saw = "它。"
was = "那。"
mended = "这。"
[[sources]]
url = "https://example.org/1"
supports = "all"
[[releases]]
library = "vllm"
bad = ">=0.6.0,<0.7.1"
fixed = "0.7.1"
change = "{CHANGE}"
"""


@pytest.mark.parametrize(
    ("lang", "says", "may"),
    [
        (
            "en",
            f"vllm 0.6.3 is in the range of a known bug: upgrade to 0.7.1 ({CHANGE})",
            "if vllm is in the range >=0.6.0,<0.7.1, it has a known bug: upgrade to 0.7.1",
        ),
        (
            "zh",
            f"vllm 0.6.3 在已知缺陷的版本范围内：请升级到 0.7.1（{CHANGE}）",
            "若 vllm 在 >=0.6.0,<0.7.1 范围内，则有已知缺陷：请升级到 0.7.1",
        ),
    ],
)
def test_an_answer_names_the_version_and_the_upgrade(
    lang: str, says: str, may: str, planted: Callable[[str], Casebase]
) -> None:
    def answers(stated: str) -> list[str]:
        found = diagnose(TRACE.format(stated=stated), casebase=planted(lang))
        assert found.causes[0].id == "library-version-bug"
        bare = found._replace(causes=(found.causes[0]._replace(verification=""),))
        pages = [one.render(bare, columns=400).replace("\\", "") for one in (text, full, markdown)]
        return [*pages, as_json.render(found)]

    brief, whole, marked, told = answers("vLLM Version: 0.6.3")
    for page in (brief, whole, marked):
        assert says in page
    [bug] = json.loads(told)["causes"][0]["known_bugs"]
    assert bug == {
        "library": "vllm",
        "version": "0.6.3",
        "bad": ">=0.6.0,<0.7.1",
        "fixed": "0.7.1",
        "change": CHANGE,
        "incident": "vllm-residual-on-cpu",
    }
    brief, whole, marked, told = answers("")
    assert may not in brief and may in whole and may in marked
    assert json.loads(told)["causes"][0]["known_bugs"][0]["version"] is None
    for page in answers("vLLM Version: 0.8.0"):
        assert "0.7.1" not in page
