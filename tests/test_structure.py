"""The counts of tests/structure.py may only fall: what stands here twice already gets no third."""

from pathlib import Path

import pytest
import structure


@pytest.fixture(scope="module")
def found() -> dict[str, int]:
    return structure.counts(structure.ROOT / "src" / "diagnose")


def test_no_count_rises(found: dict[str, int]) -> None:
    rose = {
        name: f"from {bound} to {found[name]}"
        for name, bound in structure.bounds().items()
        if found[name] > bound
    }
    assert rose == {}, "say it with what is there (tests/structure.py)"
    assert found.keys() == structure.bounds().keys()


@pytest.mark.parametrize(
    ("text", "name", "count"),
    [
        ("def f(t):\n    return [n for n in ast.walk(t)]\n", "hand_walks", 1),
        ("class V(ast.NodeVisitor):\n    pass\n", "hand_walks", 1),
        ("def f(t):\n    return t.body\n", "hand_walks", 0),
        ("def f(t):\n    return list(nodes(t, ast.If))\n", "looks_by_kind", 1),
        ("def f(a, b):\n    return ast.unparse(a) == ast.unparse(b)\n", "spellings_compared", 1),
        ("def f(s):\n    return s.what == 'moved'\n", "kinds_as_strings", 1),
        ("def f(s):\n    return s.what in {'moved', 'made'}\n", "kinds_as_strings", 1),
        ("def f(s):\n    return s.what == Kind.MOVED\n", "kinds_as_strings", 0),
        ("def f(last):\n    return last == 'cat'\n", "dispatch_by_name", 1),
        ("def f():\n" + "    a = 1\n" * 80, "functions_over_80_lines", 1),
        ("def f(a):\n" + "    if a: pass\n" * 20, "functions_over_20_branches", 1),
        ("def f(a):\n" + "    if a: pass\n" * 19, "functions_over_20_branches", 0),
    ],
)
def test_what_is_counted(tmp_path: Path, text: str, name: str, count: int) -> None:
    (tmp_path / "m.py").write_text(text, encoding="utf-8")

    assert structure.counts(tmp_path)[name] == count
