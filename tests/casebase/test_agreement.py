"""What `diagnose kb check` holds against each other in an incident: languages, fixes, what was seen."""

from __future__ import annotations

import pytest
from compiling.small import FILES

from diagnose.authoring.agreement import disagreements

TOLD = "[move]\nen = 'Move it.'\nzh = '移动它。'\n[buffer]\ntold = 'buffer'\n"
CASE = """\
fixes = ["move"]
reviewed = { on = 2026-11-22, seen = "the whole thread" }
[en]
title = "A table"
saw = "It failed."
was = "The table was on the cpu."
mended = "The reporter moved it."
[zh]
title = "表"
saw = "失败。"
was = "表在 CPU。"
mended = "报告者搬动了它。"
[[sources]]
url = "https://example.org/1"
supports = "all of it"
"""


def found(
    old: str = "", new: str = "", *, also: tuple[str, str] = ("", "")
) -> list[tuple[str, int | None]]:
    """Key and line of what is found in a case in which one text stands for another."""
    text = CASE.replace(old, new, 1).replace(*also, 1)
    files = {"fixes.toml": TOLD.encode(), "cases/first/case.toml": text.encode()}
    return [(one.key, one.line) for one in disagreements(files)]


def test_an_incident_whose_parts_agree_is_left_alone() -> None:
    assert found() == []
    assert list(disagreements({name: text.encode() for name, text in FILES.items()})) == []
    assert found(CASE, "= no TOML") == found(CASE, "fixes = 1") == []
    assert found("It failed.", "TODO: version 0.7.1, on the CPU") == []


@pytest.mark.parametrize(
    ("english", "chinese", "key"),
    [
        ("Release 0.7.1 has it.", "有的版本包含它。", "zh"),
        ("A release has it.", "0.7.1 版包含它。", "en"),
        ("Pull request 4128.", "该合并请求。", "zh"),
        ("In edit_output_fn it failed.", "在钩子里失败。", "zh"),
        ("Since 2024-05-22.", "自 2024 年 5 月起。", "zh"),
    ],
)
def test_what_one_language_lacks_is_told(english: str, chinese: str, key: str) -> None:
    assert [at for at, _ in found("It failed.", english, also=("失败。", chinese))] == [key]


@pytest.mark.parametrize(
    ("english", "chinese"),
    [
        ("Since 2024-05-22.", "自 2024 年 5 月 22 日起。"),
        ("In March 2023, with 0.7.1.", "2023 年 3 月，0.7.1 版。"),
        ("It calls Tensor.to() twice.", "它两次调用 Tensor.to()。"),
    ],
)
def test_the_same_in_another_form_agrees(english: str, chinese: str) -> None:
    assert found("It failed.", english, also=("失败。", chinese)) == []


@pytest.mark.parametrize("prose", ["表在 cpu 上。", "张量在 gpu。"])
def test_the_processors_have_one_spelling_in_chinese(prose: str) -> None:
    assert found("表在 CPU。", prose) == [("zh", 8)]


@pytest.mark.parametrize(
    "prose",
    [
        "报错：cuda:0 与 cpu。",
        "传入 device='cpu'。",
        "“on cpu”",
        "加 --device cpu。",
        "改用 .cpu()。",
    ],
)
def test_code_and_messages_keep_their_spelling(prose: str) -> None:
    assert found("表在 CPU。", prose) == []


def test_english_does_not_mix_two_spellings() -> None:
    assert found("It failed.", "It failed on the CPU.") == [("en", 3)]
    assert found("It failed.", 'It failed: "CPU is not supported".') == []


def test_a_fix_is_told_of_or_inferred() -> None:
    buffer = ('fixes = ["move"]', 'fixes = ["move", "buffer"]')
    assert found(*buffer) == [("fixes[1]", 1)]
    assert found(*buffer, also=("moved it", "made it a Buffer")) == []
    assert found(*buffer, also=("[en]", 'inferred = ["fixes: from the cause"]\n[en]')) == []


def test_only_who_saw_all_of_a_thread_says_that_it_has_no_answer() -> None:
    claim = ("The reporter moved it.", "The thread has no answer.")
    assert found(*claim) == []
    assert found(*claim, also=("the whole thread", "the opening post")) == [("en.mended", 7)]
    stored = ("The reporter moved it.", "What is stored has no answer.")
    assert found(*stored, also=("the whole thread", "the opening post")) == []


def test_a_thread_that_was_not_seen_leaves_everything_inferred() -> None:
    unseen = ("the whole thread", "nothing: it was not to be had")
    assert found(*unseen) == [("inferred", 1)]
    marked = 'inferred = ["saw: as first told", "en.mended: ours"]\n[en]'
    assert found(*unseen, also=("[en]", marked)) == []


def test_the_date_of_a_merge_has_a_source() -> None:
    merged = ("moved it", "had it merged in May 2024")
    assert found(*merged, also=("搬动了它", "在 2024 年 5 月合入")) == [("en.mended", 7)]
    both = (merged[0], "had it merged on 2024-05-22")
    assert [key for key, _ in found(*both)] == ["zh", "en.mended"]
    text = CASE.replace("all of it", "merged on 2024-05-22 by its history").replace(*merged)
    assert found(CASE, text, also=("搬动了它", "在 2024 年 5 月合入")) == []
