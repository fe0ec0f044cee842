"""kb/advice.toml: every failure that is not about placement ends in something to do."""

from __future__ import annotations

import ast
import re
import shlex
from pathlib import Path

import pytest

from diagnose._toml import loads
from diagnose.advice import advise
from diagnose.casebase.store import Casebase, load
from diagnose.compiling.kbfile import files
from diagnose.compiling.reader import read
from diagnose.model import AdviceRule, Diagnosis, Failure, Frame, Report
from diagnose.pipeline import diagnose
from diagnose.rendering import markdown, text
from diagnose.rendering.json import as_dict
from diagnose.web.app import create_app

KB = Path(__file__).parents[1] / "kb"
ENTRIES = loads((KB / "advice.toml").read_text(encoding="utf-8"))["advice"]
FAMILIES = sorted(
    {rule["family"] for rule in loads((KB / "families.toml").read_text(encoding="utf-8"))["rule"]}
    | {"other"}
)
_CODE = re.compile(r"`([^`]*)`")


def report(family: str, said: str = "it failed", kind: str = "RuntimeError") -> Report:
    frames = (Frame("/home/u/fit.py", 3, "<module>", "main()"),)
    return Report("-", Failure(kind, said, family, 4), frames=frames)


def log(error: str, script: str = "/home/u/fit.py") -> str:
    return (
        f'Traceback (most recent call last):\n  File "{script}", line 7, in <module>\n    main()\n'
        f"{error}\n"
    )


def chosen(casebase: Casebase, error: str) -> str:
    """The id of the entry that is given for an error."""
    return entry_of(diagnose(log(error), casebase=casebase), casebase)


def entry_of(found: Diagnosis, casebase: Casebase) -> str:
    """The id of the entry that an answer gives."""
    rules = [r for r in casebase.advice() if advise(found.report, [r]) == found.advice]
    assert found.advice
    return rules[0].id


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_has_advice(casebase_path: Path, family: str, lang: str) -> None:
    rules = load(casebase_path, lang).advice()  # type: ignore[arg-type]
    look, show, mend = advise(report(family), rules)
    assert all(len(sentence) > 20 for sentence in (look, mend))
    assert _CODE.search(show), "the second sentence holds a command"


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("entry", ENTRIES, ids=[entry["id"] for entry in ENTRIES])
def test_what_is_to_be_typed_is_valid(entry: dict[str, list[str]], lang: str) -> None:
    """Python after -c, shell words, and equal code in both languages."""
    for sentence in entry[lang]:
        assert sentence.count("`") % 2 == 0
        for code in _CODE.findall(sentence):
            if code.startswith("python -c"):
                words = shlex.split(code.split(";")[0] if code.count('"') < 2 else code)
                ast.parse(re.sub(r"\{\w+\}", "name", words[2]))
    said = [_CODE.findall(" ".join(entry[one])) for one in ("en", "zh")]
    assert set(said[0]) == set(said[1])


@pytest.mark.parametrize(
    ("error", "entry"),
    [
        ("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.", "gpu-memory"),
        ("ValueError: No available memory for the cache blocks. Try increasing "
         "`gpu_memory_utilization`", "serving-memory"),
        ("RuntimeError: CUDA error: device-side assert triggered", "device-assert"),
        ("RuntimeError: CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`",
         "cublas-start"),
        ("RuntimeError: CUDA error: uncorrectable ECC error encountered", "gpu-hardware"),
        ("RuntimeError: CUDA error: an illegal memory access was encountered", "gpu-call"),
        ("AssertionError: Torch not compiled with CUDA enabled", "torch-without-cuda"),
        ("RuntimeError: Found no NVIDIA driver on your system.", "no-gpu"),
        ("RuntimeError: The NVIDIA driver on your system is too old (found version 11040).",
         "old-driver"),
        ("RuntimeError: CUDA error: no kernel image is available for execution on the device",
         "gpu-architecture"),
        ("RuntimeError: Cannot re-initialize CUDA in forked subprocess. To use CUDA with "
         "multiprocessing, you must use the 'spawn' start method", "forked-cuda"),
        ("RuntimeError: mat1 and mat2 shapes cannot be multiplied (1x64 and 32x2)", "matrix-shapes"),
        ("RuntimeError: Expected target size [2, 4], got [2, 6]", "shapes"),
        ("RuntimeError: \"addmm_impl_cpu_\" not implemented for 'Half'", "no-kernel-for-dtype"),
        ("RuntimeError: expected scalar type Float but found Half", "dtypes"),
        ("ModuleNotFoundError: No module named 'flash_attn'", "no-module"),
        ("ImportError: cannot import name 'A' from 'transformers.models.llama'", "no-such-import"),
        ("ImportError: libcudnn.so.9: cannot open shared object file", "shared-library"),
        ("AttributeError: 'NoneType' object has no attribute 'to'", "none-attribute"),
        ("KeyError: 'input_ids'", "missing-name"),
        ("IndexError: index out of range in self", "index-range"),
        ("torch.distributed.DistBackendError: NCCL error in: NCCLUtils.hpp:275, internal error",
         "collective"),
        ("RuntimeError: The server socket has failed to bind to [::]:29500 (errno: 98 - Address "
         "already in use).", "port-taken"),
        ("OSError: [Errno 28] No space left on device", "disk-full"),
    ],
)  # fmt: skip
def test_the_advice_fits_the_message(casebase: Casebase, error: str, entry: str) -> None:
    assert chosen(casebase, error) == entry


def test_the_message_fills_the_advice(casebase: Casebase) -> None:
    said = "RuntimeError: mat1 and mat2 shapes cannot be multiplied (32x512 and 768x10)"
    look, _, mend = diagnose(log(said), casebase=casebase).advice
    assert "`512`" in look
    assert "`768`" in look
    assert "`in_features`" in mend


def test_a_machine_without_a_gpu_is_pointed_to_the_simulation(casebase: Casebase) -> None:
    for said in ("Torch not compiled with CUDA enabled", "No CUDA GPUs are available"):
        advice = diagnose(log(f"RuntimeError: {said}"), casebase=casebase).advice
        assert "`diagnose run --simulate fit.py`" in advice[2]


@pytest.mark.parametrize("name", ["x`; rm -rf ~", "$(reboot)", "-rf", "a b", "<script>", "ü"])
def test_nothing_but_a_plain_name_comes_from_the_log(casebase: Casebase, name: str) -> None:
    rule = AdviceRule("x", "other", ("`{name}`", "b", "c"), r"name (?P<name>.+)")
    assert advise(report("other", f"name {name}"), [rule]) == ()
    answer = diagnose(log(f"ModuleNotFoundError: No module named '{name}'"), casebase=casebase)
    assert len(answer.advice) == 3
    assert not any(name in sentence for sentence in answer.advice)


def test_a_file_that_is_no_plain_script_is_not_in_a_command(casebase: Casebase) -> None:
    said = log("AssertionError: Torch not compiled with CUDA enabled", "/u/$(reboot).py")
    assert not any("reboot" in s for s in diagnose(said, casebase=casebase).advice)


def test_failures_of_placement_and_sound_logs_get_none(casebase: Casebase) -> None:
    for said in (log("RuntimeError: Expected all tensors to be on the same device"), "all is well"):
        assert diagnose(said, casebase=casebase).advice == ()


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_every_door_shows_it(casebase_path: Path, lang: str) -> None:
    said = log("AssertionError: Torch not compiled with CUDA enabled")
    answer = diagnose(said, casebase=load(casebase_path, lang))  # type: ignore[arg-type]
    assert as_dict(answer)["advice"] == list(answer.advice)
    flat = " ".join(text.render(answer, columns=400).split())
    assert all(" ".join(sentence.split()) in flat for sentence in answer.advice)
    assert all(f"- {sentence}" in markdown.render(answer) for sentence in answer.advice)
    page = create_app(casebase_path=casebase_path).test_client()
    shown = page.post(f"/?lang={lang}", data={"text": said}).get_data(as_text=True)
    assert "<code>diagnose run --simulate fit.py</code>" in shown


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        ('family = "division-by-zero"', 'family = "no-such"', "is not a known family"),
        ("device-side assert", "device-side (assert", "is not a regular expression"),
        ("`{width}` numbers", "`{height}` numbers", "{height}: no placeholder"),
        ("`{width}` numbers", "{width} numbers", "does not stand in backticks"),
        (
            'id = "division"',
            'id = "division"\npattern = "zero"',
            "without a pattern for the family",
        ),
        ('id = "division"', 'id = "division"\nmore = "x"', "is not a key that is known here"),
        (
            'en = [\n  "A count is zero:',
            'en = [\n  "One more.",\n  "A count is zero:',
            "more than 3 entries",
        ),
    ],
)
def test_mistakes_are_told(before: str, after: str, told: str) -> None:
    source = (KB / "advice.toml").read_text(encoding="utf-8")
    assert before in source
    planted = {"advice.toml": source.replace(before, after, 1).encode()}
    problems = read(files(KB) | planted).problems
    assert any(told in problem.reason for problem in problems), problems
    assert {problem.file for problem in problems} == {"advice.toml"}


@pytest.mark.parametrize(
    ("lang", "said"), [("en", "The paste ends before the error message."), ("zh", "错误信息之前")]
)
def test_a_paste_that_ends_before_the_message_says_so(
    casebase_path: Path, lang: str, said: str
) -> None:
    casebase = load(casebase_path, lang)  # type: ignore[arg-type]
    cut = log("")
    found = diagnose(cut, casebase=casebase)
    assert (found.verdict, entry_of(found, casebase)) == ("unknown", "cut-off")
    for shown in (text.render(found), markdown.render(found)):
        assert said in shown
        assert "device-placement" not in shown
        assert not shown.startswith(" ")
    page = create_app().test_client().post("/", data={"text": cut, "lang": lang})
    assert "device-placement" not in page.text.partition("<main")[2].partition("</section>")[0]
