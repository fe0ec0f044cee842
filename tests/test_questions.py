"""Questions: the telling ones are chosen, they fit the report, and nothing in a log steers them."""

from __future__ import annotations

import ast
import itertools
import math
import re
import shlex
from collections.abc import Mapping, Sequence
from html import unescape
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from diagnose.casebase.store import Casebase, load
from diagnose.compiling.kbfile import Files, files
from diagnose.compiling.reader import read
from diagnose.model import (
    Fact,
    Failure,
    Frame,
    Mismatch,
    Question,
    QuestionRule,
    Reply,
    Report,
)
from diagnose.pipeline import diagnose
from diagnose.placeholders import (
    ALWAYS,
    PLACEHOLDERS,
    always,
    expression,
    fill,
    placeholders,
    values,
)
from diagnose.ranking.causes import Scored
from diagnose.ranking.questions import (
    LIMIT,
    SURE,
    WORTH,
    applies,
    ask,
    choose,
    gain,
    rows_of,
)
from diagnose.rendering.json import as_dict
from diagnose.scene import Scene

AMBIGUOUS = (
    "RuntimeError: Expected all tensors to be on the same device, "
    "but found at least two devices, cuda:0 and cpu!\n"
)
CPU_AND_GPU = ("pair-cpu-gpu",)
WEIGHT = ("pair-cpu-gpu", "weight-on-cpu")
TWO_GPUS = ("pair-two-gpus",)
#: Causes that are mistaken for each other most, with the facts that they share.
CONFUSIONS = (
    (CPU_AND_GPU, ("input-not-moved", "created-without-device", "unregistered-tensor")),
    (WEIGHT, ("module-not-moved", "submodule-added-after-move", "unregistered-submodule")),
    (
        TWO_GPUS,
        (
            *("cross-shard-op", "hardcoded-device", "rank-device"),
            *("device-map-under-training", "input-on-wrong-shard"),
        ),
    ),
)
PAIRS = [
    (facts, truth, other)
    for facts, causes in CONFUSIONS
    for truth, other in itertools.permutations(causes, 2)
]


# --- which questions ------------------------------------------------------------------------------


def entropy(probabilities: Sequence[float]) -> float:
    return -sum(p * math.log2(p) for p in probabilities if p > 0)


def expected_entropy(rules: Sequence[QuestionRule], beliefs: dict[str, float]) -> float:
    """What is left after the answers to all ``rules``, by going through every combination."""
    left = 0.0
    for answers in itertools.product(*(range(len(rule.answers)) for rule in rules)):
        joint = [
            belief
            * math.prod(
                rule.likelihood.get(cause, rule.others)[answer]
                for rule, answer in zip(rules, answers, strict=True)
            )
            for cause, belief in beliefs.items()
        ]
        total = sum(joint)
        if total > 0:
            left += total * entropy([share / total for share in joint])
    return left


def shares(size: int) -> st.SearchStrategy[list[float]]:
    """Probabilities that add up to 1; some may be 0."""
    weights = st.lists(st.integers(0, 20), min_size=size, max_size=size).filter(any)
    return weights.map(lambda row: [weight / sum(row) for weight in row])


@st.composite
def situations(draw: st.DrawFn) -> tuple[list[QuestionRule], dict[str, float]]:
    causes = [f"c{number}" for number in range(draw(st.integers(2, 4)))]
    raw = draw(st.lists(st.integers(1, 30), min_size=len(causes), max_size=len(causes)))
    beliefs = {cause: weight / sum(raw) for cause, weight in zip(causes, raw, strict=True)}
    rules = []
    for number in range(draw(st.integers(1, 4))):
        size = draw(st.integers(2, 3))
        named = draw(st.lists(st.sampled_from(causes), unique=True))
        rules.append(
            QuestionRule(
                id=f"q{number}",
                ask="?",
                general=None,
                answers=("a",) * size,
                likelihood={cause: draw(shares(size)) for cause in named},
                others=tuple(draw(shares(size))),
            )
        )
    return rules, beliefs


@given(situations())
@settings(max_examples=150, deadline=None)
def test_gain_is_the_entropy_that_answers_take_away(
    situation: tuple[list[QuestionRule], dict[str, float]],
) -> None:
    rules, beliefs = situation
    before = entropy([*beliefs.values()])
    for rule in rules:
        rows = rows_of(rule, beliefs)
        exact = before - expected_entropy([rule], beliefs)
        assert gain(rows, beliefs, [tuple(beliefs.values())]) == pytest.approx(exact, abs=1e-9)


@given(situations())
@settings(max_examples=150, deadline=None)
def test_each_next_question_gains_most_given_those_before(
    situation: tuple[list[QuestionRule], dict[str, float]],
) -> None:
    rules, beliefs = situation
    chosen = choose(rules, beliefs, limit=3, worth=0.01)
    for number in range(len(chosen) + 1):
        known, rest = chosen[:number], [rule for rule in rules if rule not in chosen[:number]]
        left = expected_entropy(known, beliefs)
        gains = {rule.id: left - expected_entropy([*known, rule], beliefs) for rule in rest}
        if number == len(chosen):
            assert number == 3 or all(value < 0.01 + 1e-9 for value in gains.values())
        else:
            assert gains[chosen[number].id] == pytest.approx(max(gains.values()), abs=1e-9)


def ranked(casebase: Casebase, confidences: dict[str, float]) -> tuple[Scored, ...]:
    """All causes; those not named have next to nothing."""
    found = [
        Scored(cause, confidences.get(key, 1e-6), (), ()) for key, cause in casebase.causes.items()
    ]
    return tuple(sorted(found, key=lambda scored: -scored.confidence))


def report(code: str | None = "x = x + self.pe", file: str = "model.py") -> Report:
    message = "Expected all tensors to be on the same device, but found cuda:0 and cpu!"
    frames = (Frame("train.py", 9, "<module>", "main()"), Frame(file, 12, "forward", code, at=3))
    return Report(
        "-",
        Failure("RuntimeError", message, "device-placement", 5),
        Mismatch(("cuda:0", "cpu"), None, None, "any", "cuda:0", "cpu", ("elementwise",)),
        frames,
    )


def asked(casebase: Casebase, facts: Sequence[str], beliefs: dict[str, float]) -> list[str]:
    scene = Scene(report(), casebase.knowledge)
    known = values(scene, {fact: Fact(fact) for fact in facts})
    found = ask(ranked(casebase, beliefs), scene, facts, known, casebase)
    return [question.id for question in found]


def posterior(rule: QuestionRule, answer: int, beliefs: Mapping[str, float]) -> dict[str, float]:
    """The beliefs after an answer."""
    row = rows_of(rule, beliefs)[answer]
    joint = {cause: share * part for (cause, share), part in zip(beliefs.items(), row, strict=True)}
    total = sum(joint.values()) or 1.0
    return {cause: share / total for cause, share in joint.items()}


@pytest.mark.parametrize(("facts", "truth", "other"), PAIRS)
def test_one_answer_decides_between_causes_that_look_alike(
    casebase: Casebase, facts: tuple[str, ...], truth: str, other: str
) -> None:
    beliefs = {truth: 0.5, other: 0.5}
    first, *_ = asked(casebase, facts, beliefs)
    rule = next(rule for rule in casebase.questions() if rule.id == first)
    row = rule.likelihood.get(truth, rule.others)
    answer = max(range(len(row)), key=row.__getitem__)
    assert posterior(rule, answer, beliefs)[truth] > 0.7


@pytest.mark.parametrize(("facts", "causes"), CONFUSIONS)
def test_three_answers_single_out_a_cause_of_the_whole_group(
    casebase: Casebase, facts: tuple[str, ...], causes: tuple[str, ...]
) -> None:
    even = dict.fromkeys(causes, 1 / len(causes))
    rules = {rule.id: rule for rule in casebase.questions()}
    for truth in causes:
        beliefs = even
        for question in asked(casebase, facts, even):
            row = rules[question].likelihood.get(truth, rules[question].others)
            answer = max(range(len(row)), key=row.__getitem__)
            beliefs = posterior(rules[question], answer, beliefs)
        assert beliefs[truth] > 0.7, truth


def test_every_question_is_asked_somewhere(casebase: Casebase) -> None:
    """Two causes with equal confidences, and no more facts than the question needs."""
    common = ("created-without-device", "input-not-moved", "unregistered-tensor")
    never = []
    for rule in casebase.questions():
        pairs = itertools.combinations(sorted({*rule.likelihood, *common}), 2)
        if not any(
            rule.id in asked(casebase, [*rule.all, *fact], dict.fromkeys(pair, 0.5))
            for pair in pairs
            for fact in ([(fact,) for fact in rule.any] or [()])
        ):
            never.append(rule.id)
    assert never == []


def test_every_cause_is_told_apart_by_some_question(casebase: Casebase) -> None:
    named = {cause for rule in casebase.questions() for cause in rule.likelihood}
    assert casebase.causes.keys() - named == {"host-copy-needed"}  # its message alone is certain


def test_no_question_where_the_first_cause_is_sure(casebase: Casebase) -> None:
    rivals = ("input-not-moved", "created-without-device")
    assert asked(casebase, CPU_AND_GPU, {rivals[0]: SURE, rivals[1]: 1 - SURE}) == []
    assert asked(casebase, CPU_AND_GPU, {rivals[0]: SURE - 0.01, rivals[1]: 0.2}) != []


def test_no_question_that_decides_nothing(casebase: Casebase) -> None:
    """Two causes that no applicable question tells apart by as much as it must."""
    beliefs = {"input-not-moved": 0.5, "created-without-device": 0.5}
    rules = [rule for rule in casebase.questions() if not beliefs.keys() & rule.likelihood.keys()]
    assert rules
    assert choose(rules, beliefs) == []
    assert all(gain(rows_of(r, beliefs), beliefs, [(0.5, 0.5)]) < WORTH for r in rules)


def test_what_the_facts_show_is_not_asked(casebase: Casebase) -> None:
    beliefs = {"input-not-moved": 0.4, "created-without-device": 0.3, "unregistered-tensor": 0.3}
    assert "live-tensors" in asked(casebase, CPU_AND_GPU, beliefs)
    assert "live-tensors" not in asked(casebase, (*CPU_AND_GPU, "local-seen"), beliefs)


def test_conditions() -> None:
    rule = QuestionRule(
        "q", "?", None, ("a", "b"), {}, (0.5, 0.5), all=("x",), any=("y", "z"), none=("w",)
    )
    assert applies(rule, {"x", "z"})
    assert not applies(rule, {"x"})
    assert not applies(rule, {"y", "z"})
    assert not applies(rule, {"x", "y", "w"})


# --- how they are put -----------------------------------------------------------------------------


def put(casebase: Casebase, shown: Report, *facts: str) -> dict[str, Question]:
    beliefs = {"input-not-moved": 0.4, "created-without-device": 0.3, "unregistered-tensor": 0.3}
    held = {fact: Fact(fact) for fact in ("pair-cpu-gpu", *facts)}
    scene = Scene(shown, casebase.knowledge)
    known = values(scene, held)
    found = ask(ranked(casebase, beliefs), scene, held, known, casebase)
    return {question.id: question for question in found}


def test_a_question_names_the_operands_and_the_line(casebase: Casebase) -> None:
    question = put(casebase, report("h = torch.cat([h, self.pe[:, 0]], dim=1)"))["operand-origin"]
    assert question.code is None  # the message does not say that the op joins a list
    question = put(casebase, report("h = h + self.pe[:, 0]"))["operand-origin"]
    assert question.code == "print(h.device, self.pe[:, 0].device)"
    assert question.place == "model.py:12"
    question = put(casebase, report("h += 2 * self.pe"))["operand-origin"]
    assert "self.pe" in (question.code or "")


def test_one_operand_stands_in_the_question_itself(casebase: Casebase) -> None:
    question = put(casebase, report("h = 1 + self.pe"))["operand-origin"]
    assert question.text == "Where does self.pe in model.py:12 come from?"
    general = put(casebase, report(None))["operand-origin"]
    assert "self.pe" not in general.text
    assert general.code is None


def test_no_code_goes_into_an_installed_library(casebase: Casebase) -> None:
    shown = report("h = 1 + self.pe")
    frames = (
        shown.frames[0],
        Frame("/site-packages/peft/x.py", 12, "f", "h = 1 + self.pe", "peft"),
    )
    question = put(casebase, shown._replace(frames=frames))["operand-origin"]
    assert (question.code, question.place) == (None, None)


def test_replies_point_to_the_causes_they_speak_for(casebase: Casebase) -> None:
    replies = {
        r.text.split()[0]: r.causes for r in put(casebase, report())["operand-origin"].replies
    }
    assert replies["from"] == ("input-not-moved",)
    assert replies["made"] == ("created-without-device",)
    assert replies["kept"] == ("unregistered-tensor",)


def test_both_languages_ask_the_same(casebase_path: Path, casebase: Casebase) -> None:
    chinese = load(casebase_path, "zh")
    for one, two in zip(casebase.questions(), chinese.questions(), strict=True):
        assert (one.id, one.likelihood, one.code, one.command) == (
            two.id,
            two.likelihood,
            two.code,
            two.command,
        )
        assert placeholders(one.ask) == placeholders(two.ask)
        for text in (two.ask, *two.answers):
            assert any("\u4e00" <= c <= "\u9fff" for c in text) or text in one.answers
    answer = diagnose(AMBIGUOUS, casebase=chinese)
    assert 0 < len(answer.questions) <= LIMIT


def test_likelihoods_are_probabilities(casebase: Casebase) -> None:
    for rule in casebase.questions():
        for row in (rule.others, *rule.likelihood.values()):
            assert len(row) == len(rule.answers)
            assert sum(row) == pytest.approx(1, abs=0.001)
            assert min(row) >= 0


@pytest.mark.parametrize(
    "message",
    [
        "Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!",
        "Expected all tensors to be on the same device, but found at least two devices, cuda:1 and cuda:0!",
        "Expected all tensors to be on the same device, but found at least two devices, cpu and cuda:0! "
        "(when checking argument for argument mat1 in method wrapper_CUDA_addmm)",
    ],
)
def test_a_message_that_fits_many_causes_is_a_question(casebase: Casebase, message: str) -> None:
    answer = diagnose(f"RuntimeError: {message}\n", casebase=casebase)
    assert answer.verdict == "unknown"
    assert answer.questions and len(answer.causes) > 1


def test_a_message_of_one_cause_alone_is_an_answer(casebase: Casebase) -> None:
    message = "RuntimeError: Expected a 'cuda' device type for generator but found 'cpu'\n"
    answer = diagnose(message, casebase=casebase)
    assert (answer.verdict, answer.causes[0].id) == ("diagnosed", "generator-device")


def test_json_holds_the_questions(casebase: Casebase) -> None:
    answer = as_dict(diagnose(AMBIGUOUS, casebase=casebase))
    ids = set(casebase.causes)
    assert 0 < len(answer["questions"]) <= LIMIT
    for question in answer["questions"]:
        assert question.keys() == {"id", "text", "code", "place", "command", "answers"}
        for reply in question["answers"]:
            assert reply["text"] and reply["causes"] and set(reply["causes"]) <= ids


def test_other_answers_hold_none(casebase: Casebase) -> None:
    for text in ("all is well\n", "KeyError: 'labels'\n"):
        assert as_dict(diagnose(text, casebase=casebase))["questions"] == []


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_page_shows_the_questions(casebase_path: Path, lang: str) -> None:
    from diagnose.web import create_app

    client = create_app(casebase_path).test_client()
    page = client.post(f"/?lang={lang}", data={"text": AMBIGUOUS}).get_data(as_text=True)
    words = unescape(re.sub(r"<[^>]*>", "", page))
    for question in diagnose(AMBIGUOUS, casebase=load(casebase_path, lang)).questions:
        assert question.text in words
        assert (question.code or question.command or "") in words
        for reply in question.replies:
            assert reply.text in words
            assert f"/causes/{reply.causes[0]}" in page


def test_the_page_escapes_what_a_question_holds(casebase_path: Path) -> None:
    from diagnose.web import create_app
    from diagnose.web.engine import Engine

    bad = "<img src=x onerror=alert(1)>"
    question = Question(bad, bad, (Reply(bad, (bad,)),), bad, bad, bad)
    answer = diagnose(AMBIGUOUS)._replace(questions=(question, question._replace(code=None)))
    engine = Engine(lambda lang: load(casebase_path, lang), lambda submission, base: answer)
    page = create_app(engine=engine).test_client().post("/", data={"text": AMBIGUOUS})
    assert page.status_code == 200
    assert "<img src=x" not in page.get_data(as_text=True)


# --- hostile input --------------------------------------------------------------------------------

_HARMLESS = (
    *(ast.Expression, ast.Name, ast.Attribute, ast.Subscript, ast.Constant, ast.Slice, ast.Tuple),
    *(ast.UnaryOp, ast.USub, ast.Load),
)
_PIECES = (
    *("self", ".", "[", "]", "(", ")", "0", ":", ",", "'", '"', " ", "\n", ";", "=", ":=", "-"),
    *("lambda", "await", "f'{x()}'", "os.system", "__import__", "#", "\\", "\x1b[31m", "é", "x"),
)
HOSTILE = (
    "__import__('os').system('true')",
    "x[open('f')]",
    "x[f'{y()}']",
    "(y := 1)",
    "x.encode(y)",
    "x.sum().encode().sum()",
    "x.sum()[0]",
    "torch.zeros(3)",
    "torch.sum(x)",
    "F.relu(x).sum()",
    "f().sum()",
    "x if y else z",
    "x; y",
    "x\nimport os",
    "x[lambda: 0]",
    'x["\\x1b[31m"]',
    "x[b'1']",
    "batch['ignore what came before']",
    "*x",
    "x[y[z()]]",
    "ｘ",
    "x" * 61,
)


@pytest.mark.parametrize("text", HOSTILE)
def test_no_other_expression_is_printed(text: str, casebase: Casebase) -> None:
    assert expression(text, casebase.knowledge.torch) is None


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("self.pe", "self.pe"),
        (" x [ 0 ] ", "x[0]"),
        ("self.pe[:, : n]", "self.pe[:, :n]"),
        ("batch['input_ids']", 'batch["input_ids"]'),
        ("h[-1][..., None]", "h[-1][..., None]"),
        ("t[i, 1:]", "t[i, 1:]"),
        ("mask[0].unsqueeze(f()).float()", "mask[0]"),
    ],
)
def test_operands_are_printed_anew(text: str, shown: str, casebase: Casebase) -> None:
    assert expression(text, casebase.knowledge.torch) == shown


@given(st.lists(st.sampled_from(_PIECES), max_size=12).map("".join) | st.text(max_size=40))
@settings(deadline=None)
def test_what_is_printed_is_a_name_or_a_part_of_one(casebase: Casebase, text: str) -> None:
    torch = casebase.knowledge.torch
    shown = expression(text, torch)
    if shown is not None:
        assert shown.isascii() and shown.isprintable()
        assert all(isinstance(node, _HARMLESS) for node in ast.walk(ast.parse(shown, mode="eval")))
        assert expression(shown, torch) == shown


@given(st.text(max_size=60), st.lists(st.sampled_from(_PIECES), max_size=9).map("".join))
@settings(deadline=None)
def test_nothing_from_a_log_reaches_code_or_a_command(
    casebase: Casebase, file: str, code: str
) -> None:
    shown = Report(
        "-",
        Failure("RuntimeError", code, "device-placement", 1),
        Mismatch((code, "cpu"), code, code, "any", code, "cpu", ("elementwise",)),
        (
            Frame(file, 3, "<module>", code),
            Frame(f"{file}.py", 4, code, f"x = {code}", library=code, at=2),
        ),
    )
    called = {"calls-own-module": Fact("calls-own-module", 2, {"name": code})}
    scene = Scene(shown, casebase.knowledge)
    scene.strays = (code, f"{code}(…)")  # whatever the line would show
    known = values(scene, called)
    python = fill("print({operand_devices})", known) or ""
    for node in ast.walk(ast.parse(python)):
        if isinstance(node, ast.Call):
            assert isinstance(node.func, ast.Name) and node.func.id == "print"
    words = shlex.split(fill("python {script}", known) or "")
    assert len(words) == 2 and words[0] == "python"
    assert words[1].endswith(".py") and not words[1].startswith("-")
    if (command := fill("pip show {distribution}", known)) is not None:
        assert len(shlex.split(command)) == 3 and not shlex.split(command)[2].startswith("-")
    assert not set(words[1]) & set("$`;&|<>(){}*?!~#'\"\\\n")
    for value in known.values():
        assert value.isprintable()


@pytest.mark.parametrize(
    "name", ["$(id).py", "-c.py", "a b.py;id.py", "`id`.py", "train.sh", "a\n.py"]
)
def test_a_file_that_is_no_plain_script_is_not_run(name: str) -> None:
    shown = Report("-", None, None, (Frame(name, 1, "<module>"),))
    assert always(shown)["script"] == "YOUR_SCRIPT.py"


def test_the_script_is_the_one_that_ran() -> None:
    shown = Report("-", None, None, (Frame("/home/u/tools/fit.py", 1, "<module>"),))
    assert always(shown)["script"] == "fit.py"


# --- kb/questions.toml ----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def others(kb: Path) -> Files:
    """The files of kb/ but the incidents, which no question knows."""
    return {name: held for name, held in files(kb).items() if not name.startswith("cases/")}


GOOD = """
[where]
any = ["pair-cpu-gpu"]
code = "print({operand}.device)"
en.ask = "Where is {operand}?"
en.general = "Where is it?"
zh.ask = "{operand} 在哪里？"
zh.general = "它在哪里？"
[[where.answers]]
en = "here"
zh = "这里"
causes = { rank-device = 0.9, input-not-moved = 0.1 }
[[where.answers]]
en = "there"
zh = "那里"
"""


def problems(others: Files, text: str) -> list[str]:
    told = read({**others, "questions.toml": text.encode()}).problems
    assert {problem.file for problem in told} <= {"questions.toml"}
    return list(map(str, told))


def test_a_question_without_mistakes(others: Files) -> None:
    assert problems(others, GOOD) == []


@pytest.mark.parametrize(
    ("old", "new", "key", "reason"),
    [
        ("rank-device =", "rank-devices =", "causes.rank-devices", "not a known cause"),
        (
            "rank-device = 0.9",
            "rank-device = 1.2",
            "causes.rank-device",
            "is 1.2; allowed: up to 1",
        ),
        ("rank-device = 0.9", 'rank-device = "0.9"', "causes.rank-device", "must be a number"),
        ('zh = "那里"', "", "answers[1].zh", "is missing"),
        ('zh.ask = "{operand} 在哪里？"', "", "where.zh.ask", "is missing"),
        ('en.general = "Where is it?"', "", "where.en.general", "is missing"),
        ('en.general = "Where is it?"', 'en.general = "{operand}?"', "en.general", "{operand}"),
        ("Where is {operand}?", "Where is {operands}?", "where.en.ask", "{operands}: no"),
        ('en = "here"', 'en = "in {file}"', "answers[0].en", "{file}: no"),
        ("print({operand}.device)", "print({operand}", "where.code", "is not Python"),
        ("print({operand}.device)", f"print({'1' * 80})", "where.code", "more than 70"),
        ("print({operand}.device)", "print({tensor})", "where.code", "{tensor}: no"),
        ('["pair-cpu-gpu"]', '["pair"]', "where.any[0]", "'pair' is not a known fact"),
        ('en = "there"', 'en = "there"\ncauses = { rank-device = 0.4 }', "answers", "1.30"),
        ('en = "there"', 'en = "there"\nothers = 2', "others", "is 2; allowed: up to 1"),
        ('en = "there"', 'en = "there"\nother = 0.5', "answers[1].other", "not a key"),
        ("causes = {", "# causes = {", "where.answers", "name no cause"),
        ('[[where.answers]]\nen = "there"\nzh = "那里"', "", "where.answers", "at least 2"),
    ],
)
def test_a_mistake_is_told_with_its_place(
    others: Files, old: str, new: str, key: str, reason: str
) -> None:
    assert old in GOOD
    found = problems(others, GOOD.replace(old, new))
    assert any(key in problem and reason in problem for problem in found), found


def test_placeholders_of_the_questions_are_used_and_known(casebase: Casebase) -> None:
    for rule in casebase.questions():
        texts = (rule.ask, rule.code or "", rule.command or "", *rule.answers)
        assert set().union(*map(placeholders, texts)) <= PLACEHOLDERS
        assert placeholders(rule.general or "") <= ALWAYS
