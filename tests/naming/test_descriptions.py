"""`diagnose.naming.descriptions`: words counted by the causes of the texts that use them."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diagnose.naming.descriptions import OTHER, Descriptions, counted, words_of

TEXTS = [
    ("optimizer-state", "After resuming, Adam keeps exp_avg on the cpu."),
    ("optimizer-state", "恢复训练后优化器状态在 CPU 上。"),
    ("generator-device", "The sampler wants a generator of the other device."),
    ("generator-device", "随机数生成器在另一个设备上。"),
    (OTHER, "The driver is too old for this runtime."),
]
TOLD = counted(TEXTS)


def said(text: str) -> dict[str, float]:
    return dict.fromkeys(words_of(text), 1.0)


@pytest.mark.parametrize(("cause", "text"), TEXTS[:4])
def test_the_words_of_a_text_speak_most_for_its_cause(cause: str, text: str) -> None:
    scores = TOLD.scores(said(text))
    assert max(scores, key=lambda key: scores[key]) == cause
    assert math.fsum(scores.values()) == pytest.approx(0, abs=1e-9)
    assert OTHER not in scores


def test_other_failures_are_told_from_those_of_devices() -> None:
    assert TOLD.device_failure(said(TEXTS[0][1])) > 0 > TOLD.device_failure(said(TEXTS[4][1]))


def test_what_all_causes_share_speaks_for_none() -> None:
    shared = counted([("a", "tensor seed"), ("b", "tensor shard"), ("c", "tensor epoch")])
    assert set(shared.scores(said("tensor")).values()) == {0.0}
    assert shared.scores(said("tensor seed"))["a"] > 0


def test_a_text_of_words_that_nobody_used_says_nothing() -> None:
    strange = said("zebra quilt")
    assert set(TOLD.scores(strange).values()) == {0.0}
    assert TOLD.device_failure(strange) == 0.0
    mixed = said("exp_avg zebra quilt marmalade harbour")
    assert max(TOLD.scores(mixed).values()) < max(TOLD.scores(said("exp_avg")).values())


def test_forms_and_parts_of_a_word_are_one() -> None:
    assert "mov" in words_of("Moving") & words_of("moved")
    assert {"exp_avg", "exp", "avg"} <= words_of("exp_avg")
    assert {"优化", "化器", "优化器"} <= words_of("优化器")


def test_nothing_counted_says_nothing() -> None:
    assert Descriptions().scores(said("anything")) == {}
    assert Descriptions().device_failure(said("anything")) == 0.0


@given(st.lists(st.tuples(st.sampled_from(["a", "b", OTHER]), st.text(max_size=40)), max_size=6))
def test_counts_add_up(texts: list[tuple[str, str]]) -> None:
    told = counted(texts)
    assert told.texts == len(texts)
    assert told.others == sum(cause == OTHER for cause, _ in texts)
    for at, total in enumerate(told.totals, 1):
        assert total == sum(row[at] for row in told.words.values())
    for place in range(len(told.causes)):
        says = [
            says
            for _, _, _, *pairs in told.words.values()
            for at, says in zip(pairs[::2], pairs[1::2], strict=True)
            if at == place
        ]
        assert math.hypot(*says) == pytest.approx(1000, rel=0.02) or not says
