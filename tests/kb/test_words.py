"""kb/words.toml and kb/torch.toml: a list of words stands once, under a name that patterns use."""

from __future__ import annotations

import ast
import builtins
import re
import shutil
from pathlib import Path

import pytest

from diagnose._toml import loads
from diagnose.casebase.store import Casebase
from diagnose.compiling.source import read
from diagnose.compiling.words import UnknownListError, alternations, expanded, patterns
from diagnose.model import TorchNames, Words

KB = Path(__file__).parents[2] / "kb"


def test_a_list_stands_for_any_of_its_words() -> None:
    words = alternations({"made": ["mask", r"\w*noise"], "all": ["x", "@made"]})
    pattern = re.compile(expanded(r"^@all\b(?!\()", words))
    assert [
        bool(pattern.search(text)) for text in ("x", "mask.t()", "my_noise", "noise(3)", "y")
    ] == [*(True, True, True, False, False)]


@pytest.mark.parametrize(
    ("lists", "told"),
    [
        ({"all": ["@made"]}, "@made, which neither words.toml nor torch.toml holds"),
        ({"all": ["@made"], "made": ["x", "@all"]}, "names itself"),
    ],
)
def test_a_list_of_no_or_endless_words_is_told(lists: dict[str, list[str]], told: str) -> None:
    with pytest.raises(UnknownListError, match=told):
        alternations(lists)


def test_a_pattern_that_names_no_list_is_told_with_its_fact(tmp_path: Path) -> None:
    kb = tmp_path / "kb"
    shutil.copytree(KB, kb)
    facts = kb / "facts.toml"
    text = facts.read_text(encoding="utf-8")
    facts.write_text(text.replace("@labels", "@lables"), encoding="utf-8")
    [problem] = read(kb).problems
    assert (problem.file, problem.key) == ("facts.toml", "operand-label.operand")
    assert "@lables" in problem.reason


def test_a_fact_may_name_a_list_of_torch() -> None:
    files = {
        "joins": ["cat", "hstack"],
        "functions": [{"names": ["mm"]}],
        "keywords": {"index": ["i"]},
    }
    words = alternations({**patterns(files), "all": ["@joins", r"my_\w+"]})
    assert words == {"joins": "(?:cat|hstack)", "all": r"(?:(?:cat|hstack)|my_\w+)"}


def test_the_engine_knows_every_list_of_torch(casebase: Casebase) -> None:
    """Each list of the file is a field of the model that reads it, and reaches the engine, alone or in one."""
    document = loads((KB / "torch.toml").read_text(encoding="utf-8"))
    torch = casebase.knowledge.torch
    assert all(torch)
    known = set().union(*(held for held in torch if isinstance(held, frozenset)))
    for name, held in document.items():
        if name not in ("functions", "keywords", "missing", "distributions"):
            assert set(held) <= known, name
    assert torch.takes["bmm"] == ["input", "mat2"]
    assert {"add", "add_"} <= torch.elementwise and {"zeros", "Tensor"} <= torch.factories


def test_every_name_of_torch_is_asked_for() -> None:
    """Each field of the model is read by some stage, and not only by those that carry it."""
    source = KB.parent / "src/diagnose"
    carriers = {"model", "compiling", "casebase"}
    files = [f for f in source.rglob("*.py") if f.relative_to(source).parts[0] not in carriers]
    code = "\n".join(file.read_text(encoding="utf-8") for file in files)
    read = set(re.findall(r"\btorch\.(\w+)", code))
    assert set(TorchNames._fields) <= read


def test_no_list_of_names_stands_in_the_code_that_knows_torch() -> None:
    """What one name does is code; what several names are stands in kb/torch.toml."""
    pythons = {name for one in (builtins, list, dict, set, str) for name in dir(one)}
    source = KB.parent / "src/diagnose"
    for path in (*source.glob("placement/*.py"), *source.glob("fixes/codemods/*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        own = {  # what an object of ours has, and what a module gives to others
            id(one)
            for node in ast.walk(tree)
            if isinstance(node, ast.Assign)
            and ast.unparse(node.targets[0]).startswith(("__", "forked"))
            for one in ast.walk(node.value)
        }
        for node in ast.walk(tree):
            if isinstance(node, (ast.Tuple, ast.List, ast.Set)) and id(node) not in own:
                texts = [one.value for one in node.elts if isinstance(one, ast.Constant)]
                names = [one for one in texts if isinstance(one, str) and one.isidentifier()]
                assert len(set(names) - pythons) < 5, f"{path.name}:{node.lineno}"


def test_every_list_is_used_and_stands_once() -> None:
    """By a pattern, by another list, or by the engine (`Words`); no pattern repeats one."""
    lists = loads((KB / "words.toml").read_text(encoding="utf-8"))
    torch = loads((KB / "torch.toml").read_text(encoding="utf-8")).keys()
    files = ("facts.toml", "messages.toml", "words.toml")
    texts = {name: (KB / name).read_text(encoding="utf-8") for name in files}
    lines = [line for text in texts.values() for line in text.splitlines()]
    patterns = "\n".join(line for line in lines if not line.startswith("#"))
    named = set(re.findall(r"@([a-z]+(?:-[a-z]+)*)", patterns))
    assert named <= lists.keys() | torch
    engine = {name.replace("_", "-") for name in Words._fields}
    assert lists.keys() == (named & lists.keys()) | engine
    for name, words in lists.items():
        assert len(words) < 2 or "|".join(words) not in texts["facts.toml"], name
