"""``diagnose remember`` and ``diagnose store``, as docs/remembering.md and docs/operating.md have them, and the answers
that follow."""

from __future__ import annotations

import getpass
import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from memory.conftest import trace

from diagnose import cli
from diagnose._toml import loads
from diagnose.commands import verification
from diagnose.commands.remember import offer
from diagnose.model import Diagnosis, Frame, KnownFix, Seen
from diagnose.rendering.answer import seen_line

ONE, TWO = trace("easyedit-memit-delta"), trace("adapters-dataparallel")
FIXED = ("--fixed-by", "pass device= to arange", "--by", "ana", "--host", "node7")


def run(*arguments: str) -> int:
    with pytest.raises(SystemExit) as ended:
        cli.main(list(arguments))
    return int(ended.value.code or 0)


@pytest.fixture
def job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A log, and a store that the environment names."""
    monkeypatch.setenv("DIAGNOSE_STORE", str(tmp_path / "memory.sqlite"))
    path = tmp_path / "job.log"
    path.write_text(ONE, encoding="utf-8")
    return path


def test_the_next_answer_says_it_first(job: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("remember", *FIXED, "--commit", "a1b2c3", str(job)) == 0
    assert "Seen once, on " in capsys.readouterr().out
    for form in ("text", "full", "markdown"):
        assert run("--format", form, str(job)) == 0
        first = " ".join(capsys.readouterr().out.split()).lstrip("*")
        assert first.startswith("Seen once, on ")
        assert "on node7; fixed by ana in a1b2c3 (worked as written 1): pass device" in first.replace("\\", "")  # fmt: skip
    assert run("--format", "json", str(job)) == 0
    seen = json.loads(capsys.readouterr().out)["seen"]
    assert (seen["count"], seen["hosts"], seen["status"]) == (1, ["node7"], "known")
    assert seen["fixes"][0]["commit"] == "a1b2c3"
    job.write_text(TWO, encoding="utf-8")
    assert run(str(job)) == 0
    assert "Seen" not in capsys.readouterr().out


def test_a_project_names_its_store(
    job: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("DIAGNOSE_STORE")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pyproject.toml").write_text('[tool.diagnose]\nstore = "ours.sqlite"\n')
    assert run("remember", *FIXED, str(job)) == 0
    assert (tmp_path / "ours.sqlite").exists()
    assert run(str(job)) == 0
    assert "fixed by ana" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "text", "status", "said"),
    [
        ((), "all is well\n", 3, "No error found"),
        (("--store", "none"), ONE, 2, "no store"),
        (("--cause", "nonsense"), ONE, 2, "no cause 'nonsense'"),
    ],
)
def test_what_cannot_be_remembered(
    job: Path,
    capsys: pytest.CaptureFixture[str],
    options: tuple[str, ...],
    text: str,
    status: int,
    said: str,
) -> None:
    job.write_text(text, encoding="utf-8")
    assert run("remember", *FIXED, *options, str(job)) == status
    assert said in capsys.readouterr().err


def test_a_store_that_cannot_be_read_costs_no_answer(
    job: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    job.with_name("memory.sqlite").write_bytes(b"no database " * 100)
    assert run(str(job)) == 0
    shown = capsys.readouterr()
    assert "Because" in shown.out
    assert "cannot be read" in shown.err


def test_an_answer_without_a_store_imports_none(job: Path, tmp_path: Path) -> None:
    program = (
        "import sys\nfrom diagnose.cli import main\n"
        f"try: main(['--format', 'json', {str(job)!r}])\nexcept SystemExit: pass\n"
        "print(sorted({m.partition('.')[0] for m in sys.modules} & {'sqlalchemy', 'alembic'}),"
        " 'diagnose.memory.key' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout.splitlines()[-1] == "[] False"


def test_an_answer_with_a_store_needs_no_sqlalchemy(job: Path) -> None:
    assert run("remember", *FIXED, str(job)) == 0
    program = (
        "import sys\nfrom diagnose.cli import main\n"
        f"try: main([{str(job)!r}])\nexcept SystemExit: pass\n"
        "print(sorted({m.partition('.')[0] for m in sys.modules} & {'sqlalchemy', 'alembic'}))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert "fixed by ana" in " ".join(done.stdout.split())
    assert done.stdout.splitlines()[-1] == "[]"


def test_tokens_are_issued_listed_and_revoked(
    job: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("store", "issue", "ana", "--scope", "triage", "--days", "30") == 0
    secret = capsys.readouterr().out.strip()
    assert run("store", "tokens") == 0
    shown = capsys.readouterr().out
    assert secret not in shown
    id, name, scopes, *_ = shown.split()
    assert (name, scopes) == ("ana", "triage")
    assert run("store", "revoke", id) == 0
    assert run("store", "revoke", id) == 2
    capsys.readouterr()
    assert run("store", "audit") == 0
    revoked, issued = (line.split("  ") for line in capsys.readouterr().out.splitlines())
    assert revoked[1:4] == [getpass.getuser(), "revoke", id]
    assert issued[1:] == [getpass.getuser(), "issue", id, '{"name": "ana", "scopes": "triage"}']
    assert run("store", "tokens", "--store", "none") == 2


def test_a_store_is_exported_and_imported(
    job: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run("remember", *FIXED, str(job)) == 0
    assert run("store", "export", "-o", str(tmp_path / "all.json")) == 0
    monkeypatch.setenv("DIAGNOSE_STORE", str(tmp_path / "other.sqlite"))
    capsys.readouterr()
    assert run("store", "import", str(tmp_path / "all.json")) == 0
    assert capsys.readouterr().out == "failures: 1, fixes: 1\n"
    assert run(str(job)) == 0
    assert "fixed by ana" in " ".join(capsys.readouterr().out.split())
    assert run("store", "evict", "--most", "0") == 0
    for broken in ("[]", "{}", '{"schema": 1, "failures": [{}]}', "no json"):
        (tmp_path / "broken.json").write_text(broken)
        assert run("store", "import", str(tmp_path / "broken.json")) == 2
        assert "is no export of a store" in capsys.readouterr().err


def test_hostile_words_steer_no_terminal(
    job: Path, capsys: pytest.CaptureFixture[str], answered: Callable[[str], Diagnosis]
) -> None:
    assert run("remember", "--fixed-by", "\x1b[2J<script>`x`", "--by", "a\x1b]0;b", str(job)) == 0
    assert run(str(job)) == 0
    assert "\x1b" not in capsys.readouterr().out
    assert run("--format", "markdown", str(job)) == 0
    assert "<script>" not in capsys.readouterr().out.partition("</details>")[0].partition("###")[0]


@pytest.mark.parametrize(
    ("seen", "expected"),
    [
        (Seen("g", 1, 1793700000, 1793700000), "Seen once, on 3 Nov 2026"),
        (
            Seen("g", 4, 1793700000, 1793800000, ("node7", "node9"), (KnownFix("x", "ana", 0, worked=2, changed=1),)),
            "Seen 4 times since 3 Nov 2026 on node7, node9; fixed by ana (worked as written 2, changed 1): x",
        ),
        (
            Seen("g", 2, 1793700000, 1793800000, (), (KnownFix("x", "bo", 0, failed=1),), "regressed", "torch 2.9"),
            "Seen 2 times since 3 Nov 2026; a regression: torch 2.9 was to fix it; tried by bo (failed 1): x",
        ),
    ],
)  # fmt: skip
def test_what_is_said(seen: Seen, expected: str) -> None:
    assert seen_line(seen, "en") == expected
    assert "2026年11月3日" in seen_line(seen, "zh")


# --- what offers it ---------------------------------------------------------------------------------

EDIT = "-    x = torch.arange(n)\n+    x = torch.arange(n, device='$(id)`id`')\n"


def offered(shown: str, shell: Path) -> list[str]:
    """The words of the command that stands in a line, as a shell takes them."""
    (line,) = [line for line in shown.splitlines() if "diagnose remember" in line]
    command = "diagnose remember" + line.partition("diagnose remember")[2]
    program = f"{sys.executable} -c 'import json, sys; print(json.dumps(sys.argv[1:]))'"
    shell.write_text(command.replace("diagnose", program, 1))
    done = subprocess.run(["sh", str(shell)], capture_output=True, text=True, check=True)
    words: list[str] = json.loads(done.stdout)
    return words


def test_the_offered_command_remembers(job: Path, capsys: pytest.CaptureFixture[str]) -> None:
    diff = f"--- a/x.py\n+++ b/x.py\n@@ -1 +1 @@\n context\n{EDIT}+\x1b[2J\n"
    offer(diff, str(job), "zh")
    words = offered(capsys.readouterr().err, job.with_name("it.sh"))
    text = "- x = torch.arange(n) + x = torch.arange(n, device='$(id)`id`') + [2J"
    assert words == ["remember", "--fixed-by", text, str(job)]
    assert run(*words) == 0
    assert run(str(job)) == 0
    assert "torch.arange(n, device=" in capsys.readouterr().out


@pytest.mark.parametrize(("status", "count"), [(0, 1), (1, 0)])
def test_a_pass_offers_what_git_says_has_changed(
    job: Path,
    status: int,
    count: int,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    git, script = shutil.which("git"), job.with_name("train.py")
    if git is None:
        pytest.skip("git is not installed")
    script.write_text("import torch\nx = 1\n")
    for words in (["init", "-q"], ["add", "."], ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "a"]):  # fmt: skip
        subprocess.run([git, *words], cwd=job.parent, check=True)
    script.write_text("import torch\nx = 2\n")
    frame = Frame(str(script), 2)
    whole = verification.meant
    monkeypatch.setattr(verification, "meant", lambda *given: whole(*given)._replace(culprit=frame))
    monkeypatch.setattr(verification, "run", lambda *_, **__: status)
    assert run("run", f"--verify={job}", str(script)) == status
    shown = capsys.readouterr().err
    assert shown.count("diagnose remember") == count
    if count:
        words = offered(shown, job.with_name("it.sh"))
        assert words == ["remember", "--fixed-by", "- x = 1 + x = 2", str(job)]
    monkeypatch.setattr("shutil.which", lambda _: None)
    assert run("run", f"--verify={job}", str(script)) == status
    assert ("--fixed-by ..." in capsys.readouterr().err) == bool(count)


# --- from what is remembered to an incident ---------------------------------------------------------


def test_a_failure_becomes_the_draft_of_an_incident(
    job: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kb = tmp_path / "kb"
    (kb / "causes").mkdir(parents=True)
    hostile = "move it \"\"\" ''' \\x = [evil] # no comment"
    link = "https://wiki.corp.example/42"
    job.write_text(f"torch version: 2.4.1\n{ONE}")
    about = ("--cause", "cross-shard-op", "--link", link, "--by", "ana")
    assert run("remember", "--fixed-by", hostile, *about, str(job)) == 0
    capsys.readouterr()
    assert run("--format", "json", str(job)) == 0
    group = json.loads(capsys.readouterr().out)["seen"]["group"]
    for failures in ((), (group,)):
        assert run("store", "promote", *failures, "--kb", str(kb)) == 0
        case, program = map(Path, capsys.readouterr().out.split())
        said = loads(case.read_text(encoding="utf-8"))
        assert said["id"] == case.parent.name
        assert said["cause"] == "cross-shard-op"
        assert said["en"]["mended"] == f"{hostile} (ana)"
        assert said["sources"][0]["url"] == link
        assert said["en"]["saw"].startswith("TODO:")
        compile(program.read_text(encoding="utf-8"), "reproduce.py", "exec")
    assert len(list((kb / "cases").iterdir())) == 2
    assert run("store", "promote", "nothing", "--kb", str(kb)) == 2
    assert run("store", "promote", "--kb", str(tmp_path)) == 2
    assert run("store", "evict", "--most", "0") == 0
    assert run("store", "promote", group, "--kb", str(kb)) == 0
    assert "no report left" in capsys.readouterr().err
