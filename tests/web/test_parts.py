"""The parts that need no server: excerpt, highlighting, sentences, colours, command, files."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from string import Formatter
from typing import get_args

import pytest
from click.testing import CliRunner

from diagnose._toml import loads
from diagnose.commands.doors import doors
from diagnose.memory.key import Key
from diagnose.memory.records import News, What
from diagnose.model import Diagnosis, Evidence, Failure, Frame, Outcome, RankedCause, Report, Status
from diagnose.web import highlight, serve
from diagnose.web.app import DEFAULT_MAX_BYTES, create_app
from diagnose.web.command import serve_command
from diagnose.web.excerpt import Gap, Row, excerpt, visible
from diagnose.web.language import texts
from diagnose.web.pages import https, percent

ROOT = Path(__file__).parents[2]
WEB = ROOT / "src" / "diagnose" / "web"


def about(*lines: int, error: int | None = None, culprit: int | None = None) -> Diagnosis:
    evidence = tuple(Evidence("it shows", line) for line in lines)
    cause = RankedCause("c", "c", "", 0.9, evidence, (), (), "")
    frame = Frame("a.py", 1, at=culprit)
    return Diagnosis(Report("-", Failure("E", "", at=error)), "diagnosed", frame, (cause,))


# --- excerpt ---


def test_long_input_is_cut_to_the_marked_lines_and_their_neighbours() -> None:
    text = "".join(f"line {n}\n" for n in range(1, 1001))
    rows = excerpt(text, about(500, 503, error=1000, culprit=500))
    assert rows[0] == Gap(497)
    assert rows[3] == Row(500, "line 500", ("culprit", "1"))
    assert [row.number for row in rows if isinstance(row, Row)] == [
        *range(498, 506), 998, 999, 1000,
    ]  # fmt: skip
    assert rows[9] == Gap(492)
    assert rows[-1] == Row(1000, "line 1000", ("error",))


def test_a_gap_is_never_a_single_line() -> None:
    rows = excerpt("x\n" * 1000, about(500, 506))
    assert [row.number for row in rows if isinstance(row, Row)] == list(range(498, 509))


def test_short_input_is_whole_and_lines_are_counted_as_the_parser_counts() -> None:
    assert excerpt("a\r\rb\nc\x0bd\u2028e\n", about(2)) == (
        Row(1, "a··b"),
        Row(2, "c·d\u2028e", ("1",)),
    )
    assert excerpt("a\rb", about(2)) == (Row(1, "a"), Row(2, "b", ("1",)))


def test_marks_outside_the_input_are_left_out() -> None:
    assert excerpt("a\n", about(0, 7, error=99)) == (Row(1, "a"),)


def test_colours_vanish_and_hidden_characters_show() -> None:
    assert visible("\x1b[31mred\x1b[0m\x1b]8;;http://x\x07link") == "redlink"
    assert visible("if admin\u202e # check") == "if admin· # check"
    assert len(visible("x" * 10**6)) < 700


# --- highlight ---


@pytest.mark.parametrize(
    "source",
    [
        'def f(x):\n    return x + 1.5  # add\n\nname = f"{x!r} {{}}" "b"\n',
        '"""doc\n\nstring."""\nclass A: pass',
        "\tcur_out[i] += delta",
        "return self.conv(",
        "x = 'unclosed",
        "  indented\nless\n",
        "名字 = '中文' # 注\n",
        "a\x0cb\r\nc\x00d",
        "",
        "x" * 60_000,
    ],
)
def test_highlighting_changes_no_character(source: str) -> None:
    assert "".join(text for _, text in highlight.python(source)) == source


def test_highlighting_knows_python() -> None:
    pieces = highlight.python("def f():  # why\n    return 'a', 2\n")
    assert [piece for piece in pieces if piece[0]] == [
        ("k", "def"), ("d", "f"), ("c", "# why"), ("k", "return"), ("s", "'a'"), ("n", "2"),
    ]  # fmt: skip


def test_a_removed_line_of_dashes_is_not_a_file_header() -> None:
    text = "--- a/x.sql\n+++ b/x.sql\n@@ -1,2 +1,2 @@\n--- old\n+++new\n same\n"
    assert [kind for kind, _ in highlight.patch(text)] == [
        "file", "file", "hunk", "del", "add", "same",
    ]  # fmt: skip


def test_code_with_signs_is_a_before_and_after() -> None:
    assert highlight.before_after("- a = 1\n+ a = 2\n")
    assert not highlight.before_after("a = 1\n")
    assert not highlight.before_after("  a = 1\n")
    assert not highlight.before_after("-1\n")


# --- small filters ---


def test_only_https_addresses_become_links() -> None:
    assert https("https://github.com/a/b/issues/1") == "https://github.com/a/b/issues/1"
    for bad in (
        "http://a.org",
        "javascript:alert(1)",
        "https:",
        "//a.org",
        "",
        "https://[",
        "data:x",
    ):
        assert https(bad) is None


def test_nothing_is_certain() -> None:
    assert [percent(c) for c in (0.0, 0.004, 0.5, 0.936, 0.9999, 1)] == [
        "1 %", "1 %", "50 %", "94 %", "99 %", "99 %",
    ]  # fmt: skip


# --- sentences ---


def used_keys() -> set[str]:
    sources = "\n".join(
        path.read_text(encoding="utf-8")
        for path in [*WEB.glob("templates/*.html"), *WEB.glob("*.py")]
    )
    keys = set(re.findall(r'\bsay\(\s*["\']([\w-]+)["\'][,)\s]', sources))
    keys |= {"mark-error", "mark-culprit"}  # put together in the template
    keys |= {f"api-{way}" for way in ("text", "file", "json", "causes")}
    keys |= {f"status-{one}" for one in get_args(Status)}
    keys |= {f"outcome-{one}" for one in get_args(Outcome)}
    keys |= {f"fact-{one}" for one in (*Key._fields, "cause")}
    keys |= {f"change-{one}" for one in get_args(What)}
    keys -= {"mark-", "api-", "status-", "outcome-", "fact-", "change-"}
    return keys | set(re.findall(r'InputError\(\s*\d+, "([\w-]+)"', sources))


def test_every_sentence_exists_in_both_languages_with_the_same_values() -> None:
    for key, sentences in texts().items():
        assert set(sentences) == {"en", "zh"}, key
        names = [
            {name for _, name, _, _ in Formatter().parse(s) if name} for s in sentences.values()
        ]
        assert names[0] == names[1], key


def test_every_sentence_is_used_and_every_used_one_exists() -> None:
    families = loads((ROOT / "kb" / "families.toml").read_text(encoding="utf-8"))["rule"]
    made = {f"family-{rule['family']}" for rule in families} - {"family-other"}
    made |= {
        f"error-{status}" for status in (400, 401, 403, 404, 405, 429, 500, 503, "store", "other")
    }
    made |= {f"notice-{news}" for news in get_args(News)}
    assert used_keys() | made == set(texts())


# --- colours ---


def palettes() -> dict[str, dict[str, str]]:
    css = (WEB / "static" / "style.css").read_text(encoding="utf-8")
    light, dark = re.findall(r":root \{(.*?)\}", css, re.DOTALL)
    read = lambda block: dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", block))  # noqa: E731
    return {"light": read(light), "dark": read(light) | read(dark)}


def luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(
    ("text", "ground"),
    [
        *((text, ground) for text in ("ink", "quiet", "accent") for ground in ("page", "card", "sunk")),
        *((text, "sunk") for text in ("keyword", "string", "number", "defined")),
        ("accent-ink", "accent"), ("accent", "accent-soft"), ("warm", "warm-soft"),
        ("warm", "card"), ("red", "red-soft"), ("red", "page"), ("red", "card"),
        ("ink", "red-soft"), ("ink", "warm-soft"), ("ink", "accent-soft"), ("quiet", "warm-soft"),
        ("green", "green-soft"), ("green", "sunk"), ("red", "sunk"),
    ],
)  # fmt: skip
def test_text_has_the_contrast_of_wcag_aa(scheme: str, text: str, ground: str) -> None:
    colours = palettes()[scheme]
    high, low = sorted((luminance(colours[text]), luminance(colours[ground])), reverse=True)
    assert (high + 0.05) / (low + 0.05) >= 4.5


# --- command, server, image ---


def test_command_line_does_not_pay_for_flask() -> None:
    code = "import sys, diagnose.web.command; print('flask' in sys.modules)"
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert result.stdout.strip() == "False"


def test_options_reach_the_server(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: dict[str, object] = {}
    monkeypatch.setattr(serve, "serve", lambda *args, **options: seen.update(options, at=args))
    result = CliRunner().invoke(
        serve_command, ["--host", "::1", "--port", "81", "--max-bytes", "9"]
    )
    assert result.exit_code == 0, result.output
    assert seen == {
        "at": ("::1", 81), "max_bytes": 9, "workers": None, "casebase_path": None,
        "store": None, "access": "open", "proxies": (), "hops": 1, "user_header": None, "rate": None,
        "log": False, "most": None, "webhook": None,
    }  # fmt: skip
    assert CliRunner().invoke(serve_command, []).exit_code == 0
    assert seen["max_bytes"] == DEFAULT_MAX_BYTES


def test_an_unusable_case_base_is_said_before_anything_listens(tmp_path: Path) -> None:
    damaged = tmp_path / "x.sqlite"
    damaged.write_text("not a database, and long enough to be looked at", encoding="utf-8")
    result = CliRunner().invoke(doors, ["serve", "--casebase", str(damaged)])
    assert result.exit_code == 2
    assert "cannot be read" in result.output


def test_without_gunicorn_the_development_server_says_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], casebase_path: Path
) -> None:
    served: list[tuple[str, int]] = []
    monkeypatch.setitem(sys.modules, "gunicorn.app.base", None)
    monkeypatch.setattr(
        "werkzeug.serving.run_simple", lambda host, port, app, threaded: served.append((host, port))
    )
    serve.serve("127.0.0.1", 8123, casebase_path=casebase_path)
    assert served == [("127.0.0.1", 8123)]
    assert "pip install 'torch-diagnose[server]'" in capsys.readouterr().err


@pytest.mark.parametrize("address", ["/", "/api/v1/diagnoses"])
def test_a_form_may_be_as_large_as_the_limit_says(casebase_path: Path, address: str) -> None:
    # Werkzeug's own limit of a form field is 500 kB; Flask before 3.1 has no setting for it.
    client = create_app(casebase_path).test_client()
    form = {"text": "loss is falling\n" * 60_000}
    answer = client.post(address, data=form, content_type="multipart/form-data")
    assert answer.status_code == 200


def test_image_copies_only_what_is_there_and_runs_as_nobody_special() -> None:
    lines = (ROOT / "Dockerfile").read_text(encoding="utf-8").splitlines()
    copied = [
        part
        for line in lines
        if line.startswith("COPY ") and "--from" not in line
        for part in line.split()[1:-1]
    ]
    assert copied and all((ROOT / part).exists() for part in copied)
    users = [number for number, line in enumerate(lines) if re.match(r"USER (?!root)", line)]
    starts = [number for number, line in enumerate(lines) if line.startswith("CMD")]
    assert users and users[-1] < starts[-1]
    assert any(line.startswith("HEALTHCHECK") for line in lines)
    ignored = (ROOT / ".dockerignore").read_text(encoding="utf-8").split()
    assert ".git" in ignored and not set(copied) & set(ignored)
