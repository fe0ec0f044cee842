"""Failures that are only told of: read from the words, surely by nothing that was denied, advised or tried."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from pathlib import Path

import pytest
from click.testing import CliRunner

from diagnose._toml import loads
from diagnose.casebase import search
from diagnose.casebase.store import Casebase, load
from diagnose.commands.doors import doors
from diagnose.facts import read
from diagnose.model import DEVICE_FAMILY, Diagnosis, Incident, IncidentMatch, Report, Role
from diagnose.parsing import parse
from diagnose.parsing.describing import describe
from diagnose.parsing.lines import Peeled
from diagnose.parsing.origin import named
from diagnose.pipeline import diagnose
from diagnose.ranking import resemblance
from diagnose.scene import Scene

HERE = Path(__file__).parent
REPORTS = loads((HERE / "reports.toml").read_text(encoding="utf-8"))
OTHERS = loads((HERE / "others.toml").read_text(encoding="utf-8"))["text"]
CAUSES = loads((HERE / "causes.toml").read_text(encoding="utf-8"))["text"]
TOLD = [(slug, text) for slug, texts in REPORTS.items() for text in texts.values()]
FAILS = "My script fails, there are tensors on different devices. "
MESSAGE = "RuntimeError: Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!"
TRACEBACK = f"""\
Traceback (most recent call last):
  File "/home/u/train.py", line 3, in <module>
    y = x + positions
{MESSAGE}
"""
PROSE = "It is a model of my own, and in the first step of it I get the following on my machine:"


def _facts(text: str, casebase: Casebase) -> set[str]:
    report = parse(text, knowledge=casebase.knowledge)
    assert report.description is not None
    return {fact for fact in read(Scene(report, casebase.knowledge)) if fact.startswith("told-")}


def _first_incident(answer: Diagnosis) -> str | None:
    sure = answer.causes[0].incidents if answer.verdict == "diagnosed" else answer.nearest
    return sure[0].id if sure else None


@pytest.mark.parametrize(
    "text",
    [
        "用苹果的 M2 跑这个节点就红了,提示 Torch not compiled with CUDA enabled,看起来是 nodes.py 里写死了 .to('cuda')。",
        "I set device to cpu because this is a Mac, and the app still stops with\n\n"
        "AssertionError: Torch not compiled with CUDA enabled\n\nWhere else does it ask for CUDA?",
    ],
)
def test_who_asks_for_cuda_where_another_accelerator_is_names_a_device(
    text: str, casebase: Casebase
) -> None:
    answer = diagnose(text, casebase=casebase)
    assert (answer.verdict, answer.causes[0].id) == ("diagnosed", "hardcoded-device")
    without = text.replace("苹果的 M2", "公司的机器").replace("a Mac", "a laptop")
    assert diagnose(without, casebase=casebase).verdict != "diagnosed"


@pytest.mark.parametrize(
    ("said", "devices", "argument", "op"),
    [
        (
            "it dies with at least two devices, cpu and cuda:0, argument mat2, bmm",
            "cpu cuda:0",
            "mat2",
            "bmm",
        ),
        (
            "the lookup says cuda:0 and cpu (argument index, index_select)",
            "cuda:0 cpu",
            "index",
            "index_select",
        ),
        ("SomeNet训练报错:至少两个设备 cuda:2 and cuda:0", "cuda:2 cuda:0", None, None),
    ],
)
def test_a_message_is_read_as_people_shorten_it(
    said: str, devices: str, argument: str | None, op: str | None, casebase: Casebase
) -> None:
    report = parse(
        f"I changed nothing, and since today {said}. What is wrong here?",
        knowledge=casebase.knowledge,
    )
    assert report.mismatch is not None
    assert (" ".join(report.mismatch.devices), report.mismatch.argument, report.mismatch.op) == (
        devices,
        argument,
        op,
    )


def test_what_stands_in_chinese_before_a_message_is_no_exception(casebase: Casebase) -> None:
    text = "SoftNet跑自己的数据:indices should be either on cpu or on the same device as the indexed tensor (cpu)"
    report = parse(f"{text}\n\n报错就是标题那句,有人解决了吗?", knowledge=casebase.knowledge)
    assert report.mismatch is not None and report.error is not None
    assert report.error.family == DEVICE_FAMILY


def test_the_incident_and_its_cause_are_found_by_what_people_say(casebase: Casebase) -> None:
    """Most, not all: one tells of no error at all, and a nearer incident may come."""
    assert len(TOLD) >= 25
    answers = [(slug, diagnose(text, casebase=casebase)) for slug, text in TOLD]
    first = [slug for slug, answer in answers if _first_incident(answer) == slug]
    causes = [
        slug
        for slug, answer in answers
        if answer.causes and answer.causes[0].id == casebase.incidents[slug].cause
    ]
    assert len(first) >= 20, set(REPORTS) - set(first)
    assert len(causes) >= 20, set(REPORTS) - set(causes)


def test_the_cause_is_found_where_no_incident_is(casebase: Casebase) -> None:
    answers = [(one["cause"], diagnose(one["said"], casebase=casebase)) for one in CAUSES]
    missed = [cause for cause, answer in answers if [c.id for c in answer.causes[:1]] != [cause]]
    assert len(missed) <= 4, missed


CODE = """\
My classifier dies in the forward pass as soon as I use the GPU, with an error about devices. It is this:

```python
import torch
from torch import nn

class Heads(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.body = nn.Linear(8, 8)
        {heads}

    def forward(self, x):
        x = self.body(x)
        return [head(x) for head in self.heads]

out = Heads(3).to("cuda")(torch.randn(4, 8, device="cuda"))
```

What do I do wrong? On the CPU it runs.
"""


@pytest.mark.parametrize(
    ("heads", "shown"),
    [
        ("self.heads = [nn.Linear(8, 2) for _ in range(n)]", True),
        ("self.heads = nn.ModuleList(nn.Linear(8, 2) for _ in range(n))", False),
        ("self.heads = [nn.Linear(8, 2) for _ in range(n)", False),
    ],
    ids=["list", "registered", "no-python"],
)
def test_the_code_of_a_description_is_analysed(heads: str, shown: bool, casebase: Casebase) -> None:
    report = parse(CODE.format(heads=heads), knowledge=casebase.knowledge)
    found = read(Scene(report, casebase.knowledge))
    assert ("source-unregistered-submodule" in found) is shown
    assert "told-made" not in found
    if shown:
        assert found["source-unregistered-submodule"].values["place"].endswith(":11")


def test_no_incident_is_shown_that_shares_the_cause_alone(casebase: Casebase) -> None:
    """Every text is nearest to something; most are of nothing that is documented."""
    answer = diagnose(CAUSES[1]["said"], casebase=casebase)
    assert answer.causes[0].id == CAUSES[1]["cause"]
    assert answer.causes[0].incidents == answer.nearest == ()


def test_an_incident_fits_by_its_cause_its_library_and_names_of_code(casebase: Casebase) -> None:
    slug = "lpips-lins-dataparallel"
    (text,) = REPORTS[slug].values()
    report = parse(text, knowledge=casebase.knowledge)
    known = casebase.incidents[slug]
    others = [one for one in casebase.incidents.values() if one.cause != known.cause]
    matches = [
        IncidentMatch(one.id, one.title, one.url, 0.02, one.cause, "words")
        for one in (known, *others)
    ]

    def near(report: Report, confidence: float) -> float:
        found = resemblance.fitting(matches, report, {known.cause: confidence}, casebase)
        return found[0].similarity if found else 0.0

    assert report.description is not None
    sure = near(report, 0.9)
    assert sure > near(report, 0.1)
    assert sure > near(report._replace(libraries=()), 0.9)
    assert sure > near(
        report._replace(description=report.description._replace(text="It fails.")), 0.9
    )


def test_the_answer_is_the_same_in_either_language(casebase_path: Path, casebase: Casebase) -> None:
    chinese = load(casebase_path, "zh")
    for slug in ("lpips-lins-dataparallel", "unsloth-cross-entropy-labels"):
        (text,) = REPORTS[slug].values()
        answers = [diagnose(text, casebase=one) for one in (casebase, chinese)]
        assert [_first_incident(answer) for answer in answers] == [slug, slug]
        assert answers[0].causes[0].confidence == answers[1].causes[0].confidence


@pytest.mark.parametrize("other", OTHERS, ids=range(len(OTHERS)))
def test_what_is_no_device_failure_gets_no_device_cause(
    other: Mapping[str, str], casebase: Casebase
) -> None:
    answer = diagnose(other["said"], casebase=casebase)
    assert not answer.causes
    error = answer.report.error
    assert error is None or error.family != DEVICE_FAMILY
    if not other["error"]:
        assert answer.verdict == "no-error"


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("The ids of the request were never moved. Giving generate() ids.to(model.device) made it run.", True),
        ("Adam's averages are still in main memory after the restart, and the first step of it gives up.", True),
        ("模型在显卡上，新换的输出层还留在内存里，第一个 batch 就挂了。", True),
        ("After ten epochs the step fails: CUDA out of memory, though model and batch are both on cuda:0.", False),
        ("A tutorial on buffers: the table stays on the CPU unless you register it, as the docs say.", False),
        ("模型和数据都在 0 号卡上，跑到一半就报显存不足，把批次改小就好了。", False),
    ],
)  # fmt: skip
def test_what_is_asserted_tells_a_device_failure(said: str, told: bool, casebase: Casebase) -> None:
    error = parse(said, knowledge=casebase.knowledge).error
    assert (error is not None and error.family == DEVICE_FAMILY) is told


def test_a_traceback_decides_whatever_is_said_around_it(casebase: Casebase) -> None:
    alone = diagnose(TRACEBACK, casebase=casebase)
    around = diagnose(f"{PROSE}\n\n{TRACEBACK}\nAny idea what I do wrong?", casebase=casebase)
    assert around.report.description is None
    assert [(c.id, c.confidence) for c in around.causes] == [
        (c.id, c.confidence) for c in alone.causes
    ]


def test_a_message_alone_and_a_log_are_no_description(casebase: Casebase) -> None:
    log = "\n".join(f"[rank0] step {n} loss 0.{n} lr 1e-4 cuda:0 mem 20GB" for n in range(40))
    for text in (MESSAGE, f"{log}\n{MESSAGE}", f"epoch 1: 100%|####| 5/5 [00:01]\n{MESSAGE}"):
        assert parse(text, knowledge=casebase.knowledge).description is None


@pytest.mark.parametrize(
    ("said", "fact"),
    [
        ("I do not use device_map, the model is one that I wrote.", "told-device-map"),
        ("I am not using nn.DataParallel, it is a single card that I have.", "told-dataparallel"),
        ("It runs without DataParallel and that is why I ask.", "told-dataparallel"),
        ("I tried device_map='auto' and it is the same error.", "told-device-map"),
        ("I tried setting offload of the layers, which did not help.", "told-offload"),
        ("You should consider torch.compile for the speed of it.", "told-compiled"),
        ("Would offloading the layers to the cpu be a way out of it?", "told-offload"),
        ("我没有使用 device_map，只有一张卡，模型是自己写的。", "told-device-map"),
        ("尝试过用 nn.DataParallel，也不行，还是一样报错。", "told-dataparallel"),
        ("建议：可以考虑使用量化来减少显存的占用。", "told-quantized"),
    ],
)
def test_what_is_denied_tried_or_advised_is_no_fact(
    said: str, fact: str, casebase: Casebase
) -> None:
    text = FAILS + "It is the forward of my own model that it happens in.\n" + said
    assert fact not in _facts(text, casebase)


@pytest.mark.parametrize(
    ("said", "fact"),
    [
        ("I use device_map='auto', but not torchrun.", "told-device-map"),
        ("If I remove device_map it trains, so that is what I do now.", "told-map-removed"),
        ("用 nn.DataParallel 包了一层，两张卡。", "told-dataparallel"),
        ("把模型搬到 GPU 之后，再替换输出层。", "told-replaced-after-move"),
        ("I replaced the head after model.to(device), as the tutorial does.", "told-replaced"),
        ("The table is not a buffer, it is an ordinary attribute.", "told-plain-tensor"),
        ("The layers are in a plain list of the class.", "told-plain-list"),
    ],
)
def test_what_is_stated_is_a_fact(said: str, fact: str, casebase: Casebase) -> None:
    text = FAILS + "It is the forward of my own model that it happens in.\n" + said
    assert fact in _facts(text, casebase)


def test_a_part_with_advice_holds_no_facts(casebase: Casebase) -> None:
    text = (
        f"{FAILS}It is the forward of my own model that it happens in.\nBest practices\n- a mask\n"
    )
    assert _facts(text, casebase) == set()


def test_a_sentence_keeps_the_line_that_it_begins_in(casebase: Casebase) -> None:
    text = f"{FAILS}It is my own model.\n\nThe second\nline is short. I wrap the model of it in nn.DataParallel\nhere."
    report = parse(text, knowledge=casebase.knowledge)
    assert report.description is not None
    assert [line.number for line in report.description.stated if "wrap" in line.text] == [4]


def test_the_answer_says_what_it_rests_on(tmp_path: Path) -> None:
    pasted = tmp_path / "issue.txt"
    pasted.write_text(next(iter(REPORTS["lpips-lins-dataparallel"].values())), encoding="utf-8")
    run = CliRunner().invoke
    for options, shown in (
        ([], "Based on a description only"),
        (["--full"], "Based on a description only"),
        (["--format", "markdown"], "Based on a description only"),
        (["--lang", "zh"], "根据文字描述判断"),
    ):
        assert shown in run(doors, [*options, str(pasted)]).output
    answer = json.loads(run(doors, ["--format", "json", str(pasted)]).output)
    assert answer["described"] is True
    why = run(doors, ["kb", "why", str(pasted)]).output
    assert "description lpips-lins-dataparallel" in why
    assert "fact told-dataparallel" in why


def test_of_a_long_text_the_beginning_is_read(casebase: Casebase) -> None:
    (text,) = REPORTS["lpips-lins-dataparallel"].values()
    long = text + "\n天气很好，我们去散步了，什么也没有发生。" * 8000
    report = parse(long, knowledge=casebase.knowledge)
    assert report.description is not None
    assert len(report.description.text) < 15_000
    assert diagnose(long, casebase=casebase).causes[0].id == "dataparallel-replica-state"


@pytest.mark.parametrize(
    "text",
    [
        FAILS + '" OR title:* NEAR(a b) -- \x00 ' + "the of it is and " * 20,
        FAILS + "'; DROP TABLE entry; --" + " it is the one that I have and we do" * 10,
        FAILS
        + "It is the one that I have and we do so. " * 3
        + "(" * 3000
        + " it is the one that I have and we do so" * 5,
        FAILS + "It is the one that I have and we do so. " * 3 + "device_map " * 900,
    ],
)
def test_hostile_words_are_words(text: str, casebase: Casebase) -> None:
    answer = diagnose(text, casebase=casebase)
    assert answer.verdict in ("diagnosed", "unknown")
    assert not answer.incomplete


def test_a_large_case_base_is_looked_through_by_its_index(
    casebase: Casebase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(resemblance, "_MOST", 10)
    (text,) = REPORTS["lpips-lins-dataparallel"].values()
    assert _first_incident(diagnose(text, casebase=casebase)) == "lpips-lins-dataparallel"


def test_a_plain_mapping_of_incidents_is_searched_too(casebase: Casebase) -> None:
    (text,) = REPORTS["hippynn-restart-exp-avg"].values()
    plain: dict[str, Incident] = dict(casebase.incidents)
    answer = diagnose(text, casebase=casebase._replace(incidents=plain))
    assert _first_incident(answer) == "hippynn-restart-exp-avg"


def test_without_full_text_search_the_facts_decide(
    casebase: Casebase, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lacking(*_: object) -> sqlite3.Connection:
        raise search.SearchError("this Python's SQLite has no full-text search")

    monkeypatch.setattr(resemblance, "indexed", lacking)
    (text,) = REPORTS["lpips-lins-dataparallel"].values()
    answer = diagnose(text, casebase=casebase)
    assert answer.causes[0].id == "dataparallel-replica-state"
    assert answer.causes[0].incidents == ()


def test_a_log_that_says_a_sentence_now_and_then_is_no_description(casebase: Casebase) -> None:
    """The message alone, amid lines of a run that goes well, is answered as the message alone is."""
    message = (
        "RuntimeError: Expected all tensors to be on the same device, but found at least two devices, "
        "cuda:1 and cpu! (when checking argument for argument mat2 in method wrapper_CUDA_mm)"
    )
    step = (
        "step 12 loss 0.31 lr 1e-4\n" * 9 + "saved the model and the optimizer's state to out/1\n"
    )
    amid = diagnose(f"{step * 8}{message}\n{step * 8}", casebase=casebase)
    alone = diagnose(f"{message}\n", casebase=casebase)
    assert amid.report.description is None
    assert [(c.id, c.confidence) for c in amid.causes] == [
        (c.id, c.confidence) for c in alone.causes
    ]


ARTICLE = """\
Warp layers and devices
Log in | Sign up
The flow step dies on the M2: one tensor is on mps:0, the other on the cpu.
Root cause
The grid is made on a device that is chosen when the module is imported.
Solution
Make the grid on the device of the flow.
Best practices
Never choose devices at import.
Related projects
A zoo of generators
"""


def test_a_library_that_is_only_advised_is_none_of_the_failure(casebase: Casebase) -> None:
    text = f"{FAILS}It is the generate of my diffusers pipeline. You should consider vLLM for speed of it."
    assert parse(text, knowledge=casebase.knowledge).libraries == ("diffusers",)


def test_each_sentence_has_its_role_and_the_site_has_none(casebase: Casebase) -> None:
    lines = [Peeled(at, text) for at, text in enumerate(ARTICLE.splitlines(), 1)]
    told = describe(lines, casebase.knowledge)
    assert told is not None
    roles = {one.number: one.role for one in told.sentences}
    assert roles == {1: Role.SYMPTOM, 3: Role.SYMPTOM, 5: Role.CAUSE, 7: Role.FIX, 9: Role.ADVICE}
    assert {one.number for one in told.stated} == {1, 3, 5, 7}


def test_what_is_said_of_the_cause_counts_more_than_what_was_seen(casebase: Casebase) -> None:
    lines = [Peeled(at, text) for at, text in enumerate(ARTICLE.splitlines(), 1)]
    told = describe(lines, casebase.knowledge)
    assert told is not None
    counts = told.words
    assert counts["import"] > counts["mps"] > counts["never"]
    assert "zoo" not in counts


@pytest.mark.parametrize(
    "text",
    [
        "The loss of my network fails once the images are on a GPU: cuda:0 and cpu.",
        "量化模型一调用 .cuda() 就报错。",
    ],
)
def test_one_sentence_is_a_description(text: str, casebase: Casebase) -> None:
    report = parse(text, knowledge=casebase.knowledge)
    assert report.description is not None
    assert report.error is not None
    assert report.error.family == DEVICE_FAMILY


@pytest.mark.parametrize(
    "wrong", ["", "It dies with an error. ", "这里会报错。"], ids=["nothing", "en", "zh"]
)
def test_where_nothing_went_wrong_there_is_no_failure(casebase: Casebase, wrong: str) -> None:
    """A chapter on devices uses the very words of a report about them."""
    chapter = next(one["said"] for one in OTHERS if "In this chapter" in one["said"])
    report = parse(wrong + chapter, knowledge=casebase.knowledge)
    assert (report.error is not None) is bool(wrong)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Stable-Baselines3策略网络在 DiffUsers 里报错", ("stable_baselines3", "diffusers")),
        ("We want to accelerate training with a composer of clips.", ()),
        ("光流变形(warp)这一步报错，用 accelerate 启动也一样", ("accelerate",)),
        ("`accelerate launch train.py` dies, from peft import LoraConfig", ("accelerate", "peft")),
        (
            "训练 EasyEdit项目 时报错；LLMs-from-scratch 项目也是",
            ("easyeditor", "LLMs-from-scratch"),
        ),
        ("The FlowZoo project, its GPUs and a DataParallel wrapper.", ("FlowZoo",)),
        (
            "a PeftModel under an SFTTrainer, `device_map='auto'`",
            ("peft", "trl", "transformers"),
        ),
        ("光流在warp()里计算，NeMo Automodel 报错", ("nemo_automodel",)),
        ("Fine-tuning Qwen2-7B dies on my second card.", ("transformers",)),
        ("vLLM serves Qwen2-7B and dies on my second card.", ("vllm",)),
        ("Segment Anything dies in Grounding DINO", ("segment_anything", "groundingdino")),
        ("flowzoo from pip, the weights on the main branch", ("flowzoo",)),
        ("FlowZoo多卡训练报错\n\nFlowHead 的权重在 CPU 上", ("FlowZoo",)),
        (
            "PyTorch Lightning 的 training_step 里 edge_index 在 CPU",
            ("pytorch_lightning", "torch_geometric"),
        ),
        ("pip install -U flow-zoo==1.2 and then it fails", ("flow-zoo",)),
        ("see https://github.com/someone/flow-zoo/issues/3, torch 2.9, numpy", ("flow-zoo",)),
    ],
)
def test_libraries_that_a_text_names(casebase: Casebase, text: str, names: tuple[str, ...]) -> None:
    known = casebase.knowledge
    assert named(text, known.libraries, known.words, known.descriptions().words) == names
