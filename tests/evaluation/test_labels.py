"""Labels as people write them, and the sentence for each mistake."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from evaluation.samples import labelled, write

from diagnose.casebase.store import Casebase
from diagnose.evaluation.labels import Ids, Label, LabelError, Place, collect, known_ids, read
from diagnose.evaluation.measures import MEASURES


@pytest.fixture(scope="module")
def ids(casebase: Casebase) -> Ids:
    return known_ids(casebase)


def label(tmp_path: Path, ids: Ids, content: object) -> Label:
    path = tmp_path / "a.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return read(path, ids)


def mistakes(tmp_path: Path, ids: Ids, content: object) -> list[str]:
    with pytest.raises(LabelError) as caught:
        label(tmp_path, ids, content)
    return [problem.replace(f"{tmp_path}/", "") for problem in caught.value.problems]


def test_a_full_label(tmp_path: Path, ids: Ids) -> None:
    content = {
        "cause": "cross-shard-op",
        "also_ok": ["input-on-wrong-shard"],
        "certainty": "confirmed",
        "fix_kinds": ["move-tensor-at-line"],
        "family": "device-placement",
        "exception": "RuntimeError",
        "devices": ["cuda:1", "cuda:0"],
        "op": "wrapper_CUDA_addmm",
        "argument": "mat1",
        "innermost": {"file": "linear.py", "line": 134, "function": "forward"},
        "frames": [["train.py", 3, "<module>"], ["linear.py", None, None]],
        "libraries": ["torch"],
        "culprit": {"file": "train.py", "line": 3, "in_trace": True},
    }
    assert label(tmp_path, ids, content) == Label(
        accepted=("cross-shard-op", "input-on-wrong-shard"),
        certainty="confirmed",
        fixes=("move-tensor-at-line",),
        family="device-placement",
        exception="RuntimeError",
        devices=("cuda:1", "cuda:0"),
        op="wrapper_CUDA_addmm",
        argument="mat1",
        innermost=Place("linear.py", 134, "forward"),
        frames=(Place("train.py", 3, "<module>"), Place("linear.py")),
        libraries=("torch",),
        culprit=Place("train.py", 3),
    )


def test_notes_and_nulls_are_left_alone(tmp_path: Path, ids: Ids) -> None:
    content = {
        "cause": "meta-tensor", "op": None, "argument": None, "innermost": None, "devices": [],
        "innermost_note": 3, "url": "https://example.org/1", "run": {"gpus": 2}, "n_frames": 4,
        "culprit": {"file": "a.py", "line": 3, "in_trace": False},
    }  # fmt: skip
    assert label(tmp_path, ids, content) == Label(accepted=("meta-tensor",))


def test_a_kind_of_failure_alone_is_a_label(tmp_path: Path, ids: Ids) -> None:
    known = label(tmp_path, ids, {"family": "gpu-out-of-memory", "mode": "cuda_oom"})
    assert (known.family, known.cause) == ("gpu-out-of-memory", None)


def test_the_digest_changes_with_what_is_scored_only(tmp_path: Path, ids: Ids) -> None:
    one = label(tmp_path, ids, {"cause": "meta-tensor", "why": "a"})
    assert one.digest == label(tmp_path, ids, {"why": "b", "cause": "meta-tensor"}).digest
    assert one.digest != label(tmp_path, ids, {"cause": "index-device"}).digest


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ({"cause": "input-not-move"}, "a.json: cause has the unknown id 'input-not-move'; perhaps input-not-moved"),
        ({"cause": "zzzz"}, "a.json: cause has the unknown id 'zzzz'"),
        ({"cause": ["meta-tensor"]}, "a.json: cause must be a text"),
        ({"cause": "meta-tensor", "also_ok": "index-device"}, "a.json: also_ok must be a list of texts"),
        ({"also_ok": ["index-device"], "family": "other"}, "a.json: also_ok needs a cause beside it"),
        ({"family": "oom"}, "a.json: family has the unknown id 'oom'"),
        ({"fix_kinds": ["move-inputs"]}, "a.json: fix_kinds has the unknown id 'move-inputs'; perhaps move-input"),
        ({"cause": "meta-tensor", "certainty": "sure"}, "a.json: certainty has the unknown id 'sure'"),
        ({"innermost": {"file": "a.py", "line": "3"}}, "a.json: innermost must give a file (text), a line (number) and a function (text), or null"),
        ({"innermost": {"file": "a.py", "line": True}}, "a.json: innermost must give a file (text), a line (number) and a function (text), or null"),
        ({"culprit": {"file": "a.py"}}, "a.json: culprit needs a file and a line"),
        ({"frames": [["a.py", 3]]}, "a.json: frames must be a list of [file, line, function]"),
        ({"why": "no idea"}, "a.json labels nothing: it has no cause, family or other known key"),
        ([], "a.json holds no JSON object"),
        ("{", "a.json is no JSON: Expecting property name enclosed in double quotes: line 1 column 2 (char 1)"),
        ("[" * 100_000, None),
    ],
)  # fmt: skip
def test_each_mistake_has_its_sentence(
    tmp_path: Path, ids: Ids, content: object, sentence: str | None
) -> None:
    found = mistakes(tmp_path, ids, content)
    assert len(found) == 1
    if sentence is not None:
        assert found == [sentence]


def test_names_are_the_folders_and_the_files(tmp_path: Path, ids: Ids) -> None:
    one, two = labelled(tmp_path / "one"), tmp_path / "two"
    write(two, "shapes", "RuntimeError: x", {"family": "other"})
    names = [report.name for report in collect([one, two, one / ".." / "two"], ids)]
    assert names[-2:] == ["one/shapes", "two/shapes"]
    assert len(names) == 6


def test_folders_of_one_name_stay_apart(tmp_path: Path, ids: Ids) -> None:
    for parent in ("x", "y"):
        (tmp_path / parent).mkdir()
        write(tmp_path / parent / "dev", "a", "RuntimeError: x", {"family": "other"})
    names = {report.name for report in collect([tmp_path / "x/dev", tmp_path / "y/dev"], ids)}
    assert len(names) == 2


def test_all_mistakes_of_all_folders_are_told_at_once(tmp_path: Path, ids: Ids) -> None:
    mine = tmp_path / "mine"
    write(mine, "good", "RuntimeError: x", {"family": "other"})
    write(mine, "typo", "RuntimeError: x", {"family": "othr"})
    write(mine, "blank", " \n", {"family": "other"})
    write(mine, "binary", "\0\1" * 99, {"family": "other"})
    (mine / "alone.txt").write_text("RuntimeError: x")
    (mine / "label.json").write_text('{"family": "other"}')
    (mine / "run.json").write_text('{"evaluation": 1}')
    (tmp_path / "empty").mkdir()
    with pytest.raises(LabelError) as caught:
        collect([mine, tmp_path / "empty", tmp_path / "missing"], ids)
    told = [re.sub(re.escape(str(tmp_path.resolve())) + "/", "", p) for p in caught.value.problems]
    assert told == [
        "mine/alone.txt has no label: alone.json is missing",
        "mine/binary.txt is binary, not a log; paste the text that the program printed",
        "mine/blank.txt is empty; paste a traceback or a training log",
        "mine/label.json is a label without a log: label.txt is missing",
        "mine/typo.json: family has the unknown id 'othr'; perhaps other",
        "empty holds no labelled report: NAME.txt with its label NAME.json beside it",
        "missing cannot be read: No such file or directory",
    ]


def test_the_example_of_the_documentation_is_a_label(tmp_path: Path, ids: Ids) -> None:
    document = (Path(__file__).parents[2] / "docs" / "evaluating.md").read_text()
    section = document.split("## Labels")[1].split("\n## ")[0]
    (example,) = re.findall(r"```json\n(.*?)```", section, re.DOTALL)
    assert label(tmp_path, ids, example).cause == "cross-shard-op"
    assert set(re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE)) == set(json.loads(example))


def test_the_documentation_names_every_measure() -> None:
    document = (Path(__file__).parents[2] / "docs" / "evaluating.md").read_text()
    section = document.split("## Measures")[1].split("\n## ")[0]
    rows = re.findall(r"^\| (`.*?) \| ", section, re.MULTILINE)
    assert re.findall(r"`([\w-]+)`", " ".join(rows)) == list(MEASURES)
