"""Every mistake in every file of kb/ is told, all at once, with file, line, key and what is allowed."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from compiling.small import FILES

from diagnose._toml import loads
from diagnose.commands.doors import doors
from diagnose.compiling.crosschecks import order
from diagnose.compiling.kberror import KbError
from diagnose.compiling.models import KINDS
from diagnose.compiling.positions import Way, positions
from diagnose.compiling.reader import read

TORCH = loads(FILES["torch.toml"])
#: File; what stands there and what is planted; line, key and words of what is told.
PLANTED = [
    ('words.toml', "batch = ['x', 'inputs?']", 'batch = []', 1, 'batch', 'at least 1'),
    ('words.toml', "batch = ['x', 'inputs?']", "batch = ['x', '@none']", 1, 'batch', '@none'),
    ('words.toml', "batch = ['x', 'inputs?']", "batch = ['x', '@batch']", 1, 'batch', 'names itself'),
    ('words.toml', "batch = ['x', 'inputs?']", "batch = ['(']", 1, 'batch', 'not a regular expression'),
    ('words.toml', 'heads =', "Heads = ['a']\nheads =", 4, 'Heads', '[a-z]+'),
    ('words.toml', 'heads =', "joins = ['a']\nheads =", 4, 'joins', 'torch.toml too'),
    ('torch.toml', 'losses = ["mse_loss"]', 'losses = ["l1_loss"]', 43, 'losses[0]', "'l1_loss' stands in aten.toml too"),
    ('effects.toml', 'does = "loaded"', 'does = "loads"', 3, 'effect[0].does', "'loads' is no word of placement/libraries/effects.py; did you mean"),
    ('effects.toml', 'guess = true', 'fills = true', 5, 'effect[1].guess', "'*.Accelerator' is of any package: say guess = true"),
    ('effects.toml', '"torch.load"', '"torch.@lost"', 2, 'effect[0].names[0]', '@lost'),
    ('effects.toml', '"*.Accelerator"', '"torch.load"', 1, 'effect', 'holds torch.load twice'),
    ('aten.toml', 'joins = ["hstack"]', 'joined = ["hstack"]', 2, 'joined', 'joins'),
    ('torch.toml', 'takes = ["input", "mat2"]', 'takse = ["input"]', 2, 'functions[0].takse', 'takes'),
    ('torch.toml', 'takes = ["index", "weight"]', 'takes = ["index", "the weight"]', 3, 'functions[1].takes[1]', '[a-z]'),
    ('torch.toml', 'names = ["embedding"]', 'names = ["mm"]', 3, 'functions[1].names', "'mm' stands there twice"),
    ('torch.toml', 'joins = ["cat", "stack"]', 'join = ["cat"]', 13, 'join', 'joins'),
    ('torch.toml', '["cat", "stack"]', '["cat", "stack", "cat"]', 13, 'joins', 'cat twice'),
    ('torch.toml', '["cat", "stack"]', '["cat", "st.*k"]', 13, 'joins[1]', 'A-Za-z'),
    ('torch.toml', 'accelerators = ["cuda"]', 'accelerators = []', 31, 'accelerators', 'at least 1'),
    ('torch.toml', 'host-factories = ["Tensor"]', 'host-factories = ["zeros"]', 11, 'host-factories[0]', 'other-factories'),
    ('torch.toml', 'module-results = ["eval"]', 'module-results = ["evil"]', 65, 'module-results[0]', 'module-methods'),
    ('torch.toml', 'index = ["index", "input"]', 'indices = ["index"]', 99, 'keywords.indices', 'no function takes'),
    ('torch.toml', 'ModuleList = ["clear"]', 'ModuleList = ["clear", ""]', 102, 'missing.ModuleList[1]', 'A-Za-z'),
    ('torch.toml', 'model-libraries = ["peft"]', 'model-libraries = ["prft"]', 33, 'model-libraries[0]', "'prft' is no library of libraries.toml"),
    ('messages.toml', "'torch.meta'", "'torch.same'", 12, 'wording[torch.same].id', 'twice'),
    ('messages.toml', "component = 'torch'\n", "qoutes = true\ncomponent = 'torch'\n", 4, 'wording[torch.same].qoutes', 'quotes'),
    ('messages.toml', "versions = 'any'", 'versions = 3', 5, 'wording[torch.same].versions', 'a string, not 3'),
    ('messages.toml', "literals = ['no data']\n", '', 11, 'wording[torch.meta].literals', 'is missing'),
    ('messages.toml', "['no data']\nex", "['data']\nquotes = 'no'\nex", 18, 'wording[torch.meta].quotes', 'true or false'),
    ('messages.toml', "examples = ['no data']", "examples = ['more data']", 18, 'wording[torch.meta].examples', 'not matched'),
    ('messages.toml', "literals = ['found ']\n", "literals = ['fond ']\n", 9, 'wording[torch.same].examples', 'literals'),
    ('messages.toml', "(?P<b>\\w+)'", "(?P<b>\\w+'", 7, 'wording[torch.same].pattern', 'not a regular expression'),
    ('messages.toml', "'no data'\nlit", "'no @dta'\nlit", 16, 'wording[torch.meta].pattern', '@dta'),
    ('grammar.toml', "name must", "name mist", 11, 'form', 'did you mean must'),
    ('grammar.toml', "device']\nex", "device)']\nex", 11, 'form', 'not a regular expression'),
    ('grammar.toml', "['must']", "['(must']", 4, 'words', 'not a regular expression'),
    ('grammar.toml', "name = [\"'x'\"]\n", '', 4, 'words', 'lacks name'),
    ('grammar.toml', "'x' must be on device cpu", "'x' may be on device cpu", 11, 'form', 'is read by no form'),
    ('grammar.toml', "['out of memory']", "['device: must we, on cpu']", 11, 'form', 'among others'),
    ('grammar.toml', "others = ['out of memory']\n", '', 1, 'others', 'is missing'),
    ('notions.toml', "patterns = ['place']", "patterns = ['palce']", 6, 'form', 'did you mean place'),
    ('notions.toml', "it is on the cpu", "it is on the floor", 6, 'form', 'place is not read in'),
    ('notions.toml', "it is there", "the gpu is there", 6, 'form', 'place is read in'),
    ('messages.toml', "exception = 'RuntimeError'", "exception = ''", 3, 'wording[torch.same].exception', 'is empty'),
    ('families.toml', "id = 'oom'", "id = 'zero'", 7, 'rule[zero].id', 'twice'),
    ('families.toml', "family = 'out-of-memory'\n", '', 6, 'rule[oom].family', 'is missing'),
    ('families.toml', "literals = ['out of memory']\n", '', 6, 'rule[oom].literals', 'at least one'),
    ('families.toml', "examples = ['RuntimeError: out", "examples = ['RuntimeError: no", 11, 'rule[oom].examples', 'not matched'),
    ('families.toml', "types = ['ZeroDivisionError']", "type = 'Z'", 4, 'rule[zero].type', 'types'),
    ('libraries.toml', "name = 'peft'", "name = 'torch'", 7, 'library[torch].name', 'twice'),
    ('libraries.toml', "marks = ['torch/nn']", "marks = 'torch/nn'", 4, 'library[torch].marks', 'a list, not a string'),
    ('libraries.toml', 'marks =', 'mark =', 4, 'library[torch].mark', 'marks'),
    ('facts.toml', 'zh = "两者。"\n', '', 13, 'both.zh', 'is missing'),
    ('facts.toml', '"Both."', '"{cod}"', 16, 'both.en', '{code}'),
    ('facts.toml', "all = ['says-same'", "operand = 'x'\nall = ['says-same'", 15, 'both.all', 'contradicts operand'),
    ('facts.toml', "'in-forward']", "'in-foward']", 14, 'both.all[1]', 'in-forward'),
    ('facts.toml', "none = ['names-batch']", "none = ['says-same']", 15, 'both.none', 'never hold'),
    ('facts.toml', "all = ['says-same', 'in-forward']\n", '', 14, 'both.none', 'without `all`'),
    ('facts.toml', "none = ['names-batch']", "none = ['both']", 15, 'both.none', 'circle: both -> both'),
    ('facts.toml', "operand = '^@batch$'", "operand = '^@bach$'", 20, 'names-batch.operand', 'batch'),
    ('facts.toml', "operand = '^@batch$'", "operand = '^@join$'", 20, 'names-batch.operand', 'did you mean joins'),
    ('facts.toml', "operand = '^@batch$'", "operand = '^@functions$'", 20, 'names-batch.operand', '@functions'),
    ('facts.toml', "operand = '^@batch$'", "operand = '('", 20, 'names-batch.operand', 'not a regular'),
    ('facts.toml', "'elementwise'", "'elementwize'", 2, 'says-same.says', 'elementwise'),
    ('facts.toml', "which = 'site'", "which = 'sight'", 7, 'in-forward.frame.which', "'site'"),
    ('facts.toml', ", function = 'forward' }", ' }', 7, 'in-forward.frame.library', 'needs one of'),
    ('facts.toml', 'examples = [{ frames', 'examples = [{ frame', 10, 'in-forward.examples[0].frame', 'frames'),
    ('facts.toml', "'forward', 'y = x'", "'forward'", 10, 'in-forward.examples[0].frames[0][2]', 'is missing'),
    ('facts.toml', '[both]', '[both', 13, '-', 'is no TOML'),
    ('beliefs.toml', '[two]', '[too]', 5, 'too', 'two'),
    ('beliefs.toml', 'both = -1', 'bath = -1', 3, 'one.bath', 'both'),
    ('beliefs.toml', 'in-forward = 1.5', 'in-forward = 150', 6, 'two.in-forward', 'between -20 and 20'),
    ('beliefs.toml', 'in-forward = 1.5', 'in-forward = nan', 6, 'two.in-forward', 'between -20 and 20'),
    ('corrections.toml', 'says-same =', 'in-forward =', 2, 'one.in-forward', 'beliefs.toml'),
    ('corrections.toml', '0.25', '"0.25"', 2, 'one.says-same', 'a number, not a string'),
    ('corrections.toml', '= 0.25', '0.25', 2, '-', 'is no TOML'),
    ('questions.toml', 'two = 0.1', 'too = 0.1', 11, 'where.answers[0].causes.too', 'two'),
    ('questions.toml', "['says-same']", "['say-same']", 2, 'where.any[0]', 'says-same'),
    ('questions.toml', '{operand}.device)', '{operand}.device', 3, 'where.code', 'not Python'),
    ('questions.toml', 'en.general = "Where is it?"\n', '', 4, 'where.en.general', 'is missing'),
    ('questions.toml', 'two = 0.1 }\n', 'two = 0.1 }\nothers = 2\n', 12, 'where.answers[0].others', 'up to 1'),
    ('questions.toml', 'zh = "那里"', 'zh = "那里"\ncauses = { one = 0.4 }', 8, 'where.answers', 'add up to 1.30'),
    ('fixes.toml', 'zh = "移动它。"', 'cn = "移动它。"', 3, 'move.cn', 'en, told, zh'),
    ('accelerator.toml', 'since = "2.6"', 'since = "now"', 2, 'twins.synchronize.since', 'allowed'),
    ('accelerator.toml', 'says = "{name} x"', 'says = "{nome} x"', 13, 'en.says', 'nome'),
    ('device_map.toml', 'zh = "{name}', 'zh = "{nome}', 1, 'split', 'different things'),
    ('checks.toml', 'because = "it moves"\n', '', 5, 'one.en', '`because` is missing'),
    ('checks.toml', 'says = "{name} stays"', 'says = "{name} stays"\nbecause = "x"', 15, 'two.en', 'this one is'),
    ('checks.toml', 'safety = "safe"', 'safety = "sure"', 14, 'two.safety', "'safe'"),
    ('operands.toml', 'mat2 = "weight"', 'mat2 = "weights"', 3, 'mm.mat2', "'weight'"),
    ('operands.toml', 'first = "input"\n', '', 1, 'mm', '`first` is missing'),
    ('strays.toml', 'batch = 1.0', 'bunch = 1.0', 1, '-', 'no origin'),
    ('strays.toml', 'mask = 0.5\n', '', 1, '-', '`any` lacks'),
    ('strays.toml', 'batch = 1.0', 'batch = 2.0', 16, 'one.batch', 'up to 1'),
    ('operators.toml', '["sum"]', '["sum", "add.Tensor"]', 4, 'reduction[1]', 'elementwise too'),
    ('operators.toml', '"bmm" = { method', '"bmm" = { methods', 11, 'checked.bmm.methods', 'method'),
    ('extensions.toml', 'of = ["u"]', 'of = ["v"]', 4, 'function[scan_cuda.fwd].asks', 'none of the parameters'),
    ('operators.toml', 'free = ', 'fre = ', 5, 'fre', 'free'),
    ('repairs.toml', '{count} runs', '{many} runs', 1, 'runs', 'different things: count, many'),
    ('advice.toml', '"other"\nfamily = "other"', '"other"\nfamily = "others"', 15, 'advice[other].family', 'other'),
    ('advice.toml', '"Look.", ', '', 4, 'advice[division-by-zero].en', 'at least 3'),
    ('advice.toml', '`python {script}`', 'python {script}', 4, 'advice[division-by-zero].en', 'backticks'),
    ('descriptions/one.toml', "'It fails.'", "3", 2, 'en[0].text', 'a string, not 3'),
    ('redaction.toml', '(?P<secret>', '(?P<other>', 9, 'rule[key].pattern', 'no group `secret`'),
    ('redaction.toml', 'kind = "token"', 'kind = "tokens"', 6, 'rule', "there is no kind 'tokens'"),
    ('redaction.toml', '"key="', '"KEY="', 10, 'rule[key].keywords', 'not in lower case'),
    ('symptoms.toml', "['nan', 'not a number']", "'nan'", 2, 'notions.nan', 'a list, not a string'),
    ('symptoms.toml', '[stop]', '[stops]', 4, 'stops', 'stop'),
    ('symptoms.toml', "['的']", "['的是']", 6, 'stop.particles[0]', 'at most 1'),
    ('causes/one.toml', 'id = "one"', 'id = "won"', 1, 'id', "must be 'one'"),
    ('causes/one.toml', 'prior = 0.5', 'piror = 0.5', 2, 'piror', 'prior'),
    ('causes/one.toml', 'gpus = 1', 'gpus = 1.5', 3, 'gpus', 'whole number'),
    ('causes/one.toml', '["indexing"]', '["indexes"]', 4, 'checks[0]', 'indexing'),
    ('causes/one.toml', '[rather.two]', '[rather.too]', 16, 'rather.too', 'two'),
    ('causes/one.toml', 'kind = "move"', 'kind = "mover"', 21, 'fixes[0].kind', 'move'),
    ('causes/one.toml', 'kind = "move"\n', 'kind = "move"\nfirst_with = ["one-fcat"]\n', 22, 'fixes[0].first_with[0]', 'known fact'),
    ('causes/one.toml', 'python {script}', 'python {file}', 26, 'fixes[0].command', '{script}'),
    ('causes/one.toml', '"A cause"', '"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"', 7, 'en.title', 'at most 80'),
    ('causes/one.py', 'def fixed', 'def mended', 1, 'fixed', 'not defined'),
    ('causes/one.py', 'def fixed(devices)', 'def fixed(devices', 5, '-', 'no Python program'),
    ('cases/first/case.toml', 'id = "first"', 'id = "last"', 1, 'id', "must be 'first'"),
    ('cases/first/case.toml', 'cause = "one"', 'cause = "won"', 2, 'cause', 'one'),
    ('cases/first/case.toml', '["move"]', '["move", "mov"]', 8, 'fixes[1]', 'move'),
    ('cases/first/case.toml', 'https://example.org/1', 'http://example.org/1', 31, 'sources[0].url', 'https'),
    ('cases/first/case.toml', 'gpus = 1', 'gpus = true', 9, 'gpus', 'not true'),
    ('cases/first/case.toml', 'torch = "2.1"', 'torch = 2.1', 16, 'versions.torch', 'a string'),
    ('cases/first/case.toml', 'gpus = 1', 'gpus = 1\nsilent = true', 10, 'silent', 'contradicts'),
    ('cases/first/case.toml', 'gpus = 1', 'gpus = 65', 9, 'gpus', 'up to 64'),
    ('cases/first/case.toml', '[zh]', '[cn]', 24, 'cn', 'zh'),
    ('cases/first/case.toml', 'on = 2026-11-22', 'on = "2026-11-22"', 11, 'reviewed.on', 'a date such as'),
    ('cases/first/case.toml', ', seen = "the whole thread"', '', 11, 'reviewed.seen', 'is missing'),
    ('cases/first/case.toml', '"the program needs the GPU it simulates"', '""', 12, 'by_hand', 'is empty'),
    ('cases/first/case.toml', '"frames: from', '"frames from', 13, 'inferred', '"field: how it was inferred"'),
    ('cases/first/case.toml', '"frames: from', '"frame: from', 13, 'inferred', 'did you mean frames'),
    ('cases/first/case.toml', '"frames: from', '"op: from', 13, 'inferred', "'op' is not stated"),
    ('cases/first/case.toml', 'library = "torch"', 'library = "torhc"', 34, 'releases', 'did you mean torch'),
    ('cases/first/case.toml', '">=0.6.0,<0.7.1"', '"0.6.0 to 0.7.0"', 36, 'releases[0].bad', 'no set of versions'),
    ('cases/first/case.toml', 'fixed = "0.7.1"', 'fixed = "main"', 37, 'releases[0].fixed', 'no version'),
    ('cases/first/case.toml', 'fixed = "0.7.1"', 'fixed = "0.7.0"', 37, 'releases[0].fixed', 'one of the bad ones'),
    ('cases/first/case.toml', 'https://example.org/2', 'example.org/2', 38, 'releases[0].change', 'https'),
    ('cases/first/reproduce.py', 'print(', 'print((', 3, '-', 'no Python program'),
    ('verification/harness.py', 'def run()', 'def run(', 1, '-', 'no Python program'),
]  # fmt: skip


def planted(*mistakes: tuple[str, str, str]) -> list[KbError]:
    """What is told of the small kb/ with other text in its files; without any, nothing is."""
    files = dict(FILES)
    for file, old, new in mistakes:
        assert old in files[file]
        files[file] = files[file].replace(old, new, 1)
    return list(read({name: text.encode() for name, text in files.items()}).problems)


def test_the_small_kb_has_no_mistakes() -> None:
    assert planted() == []


@pytest.mark.parametrize(("file", "old", "new", "line", "key", "told"), PLANTED)
def test_a_mistake_is_told_with_file_line_and_key(
    file: str, old: str, new: str, line: int, key: str, told: str
) -> None:
    found = planted((file, old, new))
    [one] = [p for p in found if (p.file, p.line, p.key) == (file, line, key)]
    assert told in one.reason
    assert str(one).startswith(f"{file}:{line}: {key}: ")
    assert len(found) <= 2, (
        "a slip in a name is an unknown key and a missing one, nothing else is told"
    )


@pytest.mark.parametrize(
    "name",
    [name for name in TORCH if name not in ("functions", "keywords", "missing", "distributions")],
)
def test_mistakes_of_each_list_of_torch_are_told(name: str) -> None:
    held, lines = TORCH[name], FILES["torch.toml"].splitlines()
    [line] = [number for number, one in enumerate(lines, 1) if one.startswith(f"{name} = ")]
    stands = lines[line - 1]
    for text, key, told in (
        (stands.replace(name, f"{name}s", 1), f"{name}s", f"did you mean {name}"),
        (f"{name} = {held[0]!r}", name, "a list, not a string"),
        (f"{name} = [{held[0]!r}, 1]", f"{name}[1]", "a string, not 1"),
        (f"{name} = [{held[0]!r}, {held[0]!r}]", name, "twice"),
    ):
        found = planted(("torch.toml", stands, text))
        [reason] = [p.reason for p in found if (p.line, p.key) == (line, key)]
        assert told in reason


def test_every_kind_of_file_is_covered() -> None:
    files = {file for file, *_ in PLANTED}
    for kind in KINDS:
        assert any(fnmatchcase(file, kind.glob) for file in files), kind.glob
    assert len(PLANTED) >= 40


def test_ten_mistakes_are_told_at_once() -> None:
    ten = list(
        {file: mistake for mistake in PLANTED if (file := mistake[0]) != "words.toml"}.values()
    )[:10]
    assert len(ten) == 10
    found = planted(*((file, old, new) for file, old, new, *_ in ten))
    told = {(p.file, p.key) for p in found}
    assert told >= {(file, key) for file, _, _, _, key, _ in ten}
    assert [p.order for p in found] == sorted(p.order for p in found)


def test_two_mistakes_of_one_entry_are_told_at_once() -> None:
    found = planted(
        ("facts.toml", 'zh = "两者。"\n', ""),
        ("facts.toml", "'in-forward']", "'in-foward']"),
        ("facts.toml", "none =", "nine = 1\nnone ="),
    )
    assert [p.key for p in found] == ["both.zh", "both.all[1]", "both.nine"]


@pytest.mark.parametrize("file", [file for file in FILES if not file.endswith(".txt")])
def test_a_broken_file_is_told_and_the_others_are_read(file: str) -> None:
    files: dict[str, bytes | KbError] = {name: text.encode() for name, text in FILES.items()}
    files |= {file: b"= [\xff", "libraries.toml": b"library = 3"}
    told = read(files).problems
    if file != "libraries.toml":
        assert {file, "libraries.toml"} == {p.file for p in told}
        assert [(p.line, "UTF-8" in p.reason) for p in told if p.file == file] == [(1, True)]


@pytest.mark.parametrize("file", [file for file in FILES if not file.endswith(".txt")])
def test_a_missing_file_is_told(file: str) -> None:
    files = {name: text.encode() for name, text in FILES.items() if name != file}
    told = [str(p) for p in read(files).problems]
    optional = file.startswith(("verification/harness", "cases/first/case", "descriptions/"))
    assert told or optional or file == "symptoms.toml"


def test_a_stray_file_is_told() -> None:
    files = {name: text.encode() for name, text in FILES.items()}
    [one] = read(files | {"fact.toml": b"", "cases/first/notes.txt": b""}).problems
    assert one.file == "fact.toml" and "facts.toml" in one.reason
    [one] = read(files | {"causes/three.py": b""}).problems
    assert one.file == "causes/three.py"


def test_a_combination_stands_behind_what_it_is_made_of() -> None:
    """Wherever it stands in the file, so that one pass over the rules is enough."""
    facts = {"c": {"all": ["b"]}, "x": {}, "b": {"all": ["a"], "none": ["d"]}, "a": {}, "d": {}}
    assert order(facts) == (["a", "d", "b", "c", "x"], [])
    assert order({"a": {"all": ["b"]}, "b": {"none": ["a"]}})[1] == [["a", "b"]]


# --- the lines --------------------------------------------------------------------------------------


def test_every_key_of_every_file_has_its_line(kb: Path) -> None:
    for path in kb.rglob("*.toml"):
        text = path.read_text(encoding="utf-8")
        found, lines = positions(text), text.splitlines()
        assert set(found) == set(ways(loads(text))), path
        for way, line in found.items():
            assert isinstance(way[-1], int) or way[-1] in lines[line - 1], (path, way)


def ways(value: Any, way: Way = ()) -> Iterator[Way]:
    """The way to everything in a document."""
    if way:
        yield way
    for part, inner in (
        value.items()
        if isinstance(value, dict)
        else (enumerate(value) if isinstance(value, list) else ())
    ):
        yield from ways(inner, (*way, part))


# --- the commands -----------------------------------------------------------------------------------


def test_a_build_reads_each_file_once(kb: Path, tmp_path: Path) -> None:
    counted = subprocess.run(
        [sys.executable, "-c", OPENED, str(kb), str(tmp_path / "out.sqlite")],
        capture_output=True,
        text=True,
        check=True,
    )
    opened = Counter(json.loads(counted.stdout.splitlines()[-1]))
    assert set(opened.values()) == {1}
    assert sum(name.endswith("case.toml") for name in opened) > 160


OPENED = """
import json, sys
opened = []
sys.addaudithook(
    lambda event, args: opened.append(str(args[0]))
    if event == "open" and str(args[0]).startswith(sys.argv[1]) else None
)
from diagnose.cli import main
try:
    main(["kb", "build", "--kb", sys.argv[1], "--output", sys.argv[2]])
except SystemExit as done:
    assert not done.code
print(json.dumps(opened))
"""


def test_without_pydantic_a_sentence_says_what_to_install(kb: Path) -> None:
    block = "import sys; sys.modules['pydantic'] = None; from diagnose.cli import main; main(sys.argv[1:])"
    done = subprocess.run(
        [sys.executable, "-c", block, "kb", "check", "--kb", str(kb)],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 2
    assert "pip install 'torch-diagnose[authoring]'" in done.stderr
    assert "Traceback" not in done.stderr


def test_an_answer_needs_no_pydantic() -> None:
    code = "import sys; sys.modules['pydantic'] = None; from diagnose.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code],
        input="RuntimeError: Expected all tensors to be on the same device, but found at least two"
        " devices, cuda:0 and cpu!",
        capture_output=True,
        text=True,
    )
    assert (done.returncode in (0, 1), done.stderr) == (True, "")
    assert "cuda:0 and cpu" in done.stdout


def test_the_schemas_offer_keys_and_ids(kb: Path, tmp_path: Path) -> None:
    done = CliRunner().invoke(doors, ["kb", "schema", "--kb", str(kb), str(tmp_path / "s")])
    assert done.exit_code == 0, done.output
    rules = loads((tmp_path / "s/taplo.toml").read_text(encoding="utf-8"))["rule"]
    assert [rule["include"] for rule in rules] == [[f"**/{k.glob.lstrip('*')}"] for k in KINDS]
    for rule in rules:
        schema = json.loads(Path(rule["schema"]["path"]).read_text(encoding="utf-8"))
        assert schema["$schema"] and schema["description"]
    torch = json.loads((tmp_path / "s/torch.json").read_text(encoding="utf-8"))
    assert {"functions", "keywords", "same-device", "indexing"} <= set(torch["required"])
    facts = json.loads((tmp_path / "s/facts.json").read_text(encoding="utf-8"))
    entry = facts["$defs"]["FactEntry"]
    assert entry["additionalProperties"] is False
    assert {"en", "zh"} <= set(entry["required"]) and "not" in entry["properties"]
    named = next(one for one in entry["properties"]["all"]["anyOf"] if one["type"] == "array")
    assert "says-elementwise" in named["items"]["enum"]


def test_descriptions_of_no_cause_are_told() -> None:
    files = {name: text.encode() for name, text in FILES.items()}
    files["descriptions/three.toml"] = files["descriptions/one.toml"]
    files["descriptions/other.toml"] = files["descriptions/one.toml"]
    [problem] = read(files).problems
    assert problem.file == "descriptions/three.toml"
    assert "called by no cause" in problem.reason
