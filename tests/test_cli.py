"""The command line as its users run it: a real process, real files, real pipes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from diagnose.casebase.store import Casebase
from diagnose.commands import COMMANDS

#: Its incident is documented.
KNOWN = Path(__file__).parent / "traces/easyedit-memit-delta.txt"
TRACE = """\
Traceback (most recent call last):
  File "/home/user/project/train.py", line 40, in <module>
    main()
  File "/home/user/project/train.py", line 31, in main
    loss = net(batch)
  File "/opt/env/lib/python3.11/site-packages/torch/nn/modules/module.py", line 1736, in _wrapped_call_impl
    return self._call_impl(*args, **kwargs)
  File "/home/user/project/net.py", line 12, in forward
    return x + self.pe[:, : x.size(1)]
RuntimeError: Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!
"""
SHAPES = TRACE.replace(
    TRACE.splitlines()[-1],
    "RuntimeError: The size of tensor a (10) must match the size of tensor b (9) at non-singleton dimension 3",
)
HEALTHY = "step 1 loss 2.31\nstep 2 loss 2.29\nSaving model checkpoint to out/\n"


def run(
    *args: str,
    stdin: str | bytes | None = None,
    env: dict[str, str] | None = None,
    cwd: Path | None = None,
) -> subprocess.CompletedProcess[bytes]:
    data = stdin.encode() if isinstance(stdin, str) else stdin
    return subprocess.run(
        [sys.executable, "-m", "diagnose", *args],
        input=data if data is not None else b"",
        capture_output=True,
        env={**os.environ, **(env or {})},
        cwd=cwd,
        timeout=120,
    )


def test_a_pasted_traceback_is_answered() -> None:
    done = run(stdin=TRACE)
    text = done.stdout.decode()
    assert done.returncode == 0
    assert "/home/user/project/net.py:12 in forward" in text
    assert "unregistered-tensor" in text
    assert "+ return x + self.pe[:, : x.size(1)].to(x.device)" in text
    assert "diagnose fix --gpus 1 train.py" in text
    assert done.stderr == b""


def test_json_follows_the_contract() -> None:
    done = run("--format", "json", stdin=TRACE)
    (line,) = done.stdout.decode().splitlines()
    answer = json.loads(line)
    assert answer["schema"] == 2
    assert answer["source"] == "-"
    assert answer["verdict"] == "diagnosed"
    assert answer["error"]["family"] == "device-placement"
    assert answer["mismatch"]["devices"] == ["cuda:0", "cpu"]
    assert [f["line"] for f in answer["frames"]] == [40, 31, 1736, 12]
    assert answer["libraries"] == ["torch"]
    assert answer["culprit"]["line"] == 12
    cause = answer["causes"][0]
    assert 0 < cause["confidence"] <= 1
    assert {"text", "line"} == set(cause["evidence"][0])
    of_a_fix = "kind title patch edit command code example stopgap proven"
    assert set(of_a_fix.split()) == set(cause["fixes"][0])
    assert cause["verification"] == {
        "id": cause["id"],
        "command": f"diagnose explain --verification {cause['id']}",
    }


@pytest.mark.parametrize(
    "order",
    [
        ("--full", "--format", "json"),
        ("--format", "json", "--full"),
        ("--format", "json", "--schema", "1"),
    ],
)
def test_brief_json_leaves_out_what_full_json_has(order: tuple[str, ...]) -> None:
    brief = json.loads(run("--format", "json", stdin=TRACE).stdout)
    full = json.loads(run(*order, stdin=TRACE).stdout)
    first, second, *_ = brief["causes"]
    whole = full["causes"][0]
    assert first["fixes"] == whole["fixes"][:3] and first["incidents"] == whole["incidents"][:1]
    compile(whole["verification"], "verify.py", "exec")
    assert (brief["schema"], brief["nearest"], full["schema"]) == (2, [], 1)
    others = brief.keys() - {"causes", "schema", "nearest"}
    assert {key: brief[key] for key in others} == {key: full[key] for key in others}
    whole = full["causes"][1]
    assert second.keys() == whole.keys()
    assert second["fixes"] == whole["fixes"][:1] and second["evidence"] == whole["evidence"][:1]
    assert second["verification"] is None and second["incidents"] == []
    compile(whole["verification"], "verify.py", "exec")


@pytest.mark.parametrize(
    ("text", "status", "verdict"),
    [(TRACE, 0, "diagnosed"), (SHAPES, 1, "unknown"), (HEALTHY, 3, "no-error")],
)
def test_exit_status_says_what_was_found(text: str, status: int, verdict: str) -> None:
    done = run("--format", "json", stdin=text)
    assert done.returncode == status
    assert json.loads(done.stdout)["verdict"] == verdict


def test_another_failure_never_gets_a_device_cause() -> None:
    answer = json.loads(run("--format", "json", stdin=SHAPES).stdout)
    assert answer["causes"] == []
    assert answer["error"]["family"] == "shape-mismatch"


def test_several_files_in_their_order_one_bad_one_loses_nothing(tmp_path: Path) -> None:
    (tmp_path / "a.log").write_text(TRACE)
    (tmp_path / "b.log").write_text(HEALTHY)
    done = run("--format", "json", "a.log", "missing.log", "b.log", cwd=tmp_path)
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert [a["source"] for a in answers] == ["a.log", "b.log"]
    assert done.returncode == 2
    assert (
        done.stderr.decode() == "diagnose: missing.log cannot be read: No such file or directory\n"
    )


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "is empty"),
        (b"  \n\n", "is empty"),
        (bytes(range(256)) * 40, "is binary"),
        (b"\x7fELF" + b"\0\1\2\3" * 4000, "is binary"),
    ],
)
def test_bad_input_gets_a_sentence(tmp_path: Path, content: bytes, sentence: str) -> None:
    path = tmp_path / "input"
    path.write_bytes(content)
    done = run(str(path))
    assert done.returncode == 2
    assert sentence in done.stderr.decode()
    assert b"Traceback" not in done.stderr
    assert done.stdout == b""


def test_a_directory_and_an_empty_pipe_get_sentences(tmp_path: Path) -> None:
    done = run(str(tmp_path))
    assert done.returncode == 3
    assert done.stdout.decode().startswith("No failures found in 0 logs")
    done = run(stdin="")
    assert done.returncode == 2
    assert done.stderr.decode().startswith("diagnose: standard input is empty")


def test_a_hundred_megabytes_of_one_line_end_well(tmp_path: Path) -> None:
    path = tmp_path / "line.log"
    path.write_bytes(b"x" * 100_000_000)
    done = run(str(path))
    assert done.returncode == 3
    assert done.stdout.decode().startswith("No error found")


def test_utf16_is_no_binary(tmp_path: Path) -> None:
    path = tmp_path / "powershell.log"
    path.write_bytes(TRACE.encode("utf-16"))
    assert run(str(path)).returncode == 0


def test_output_file_and_verification_file(tmp_path: Path) -> None:
    done = run(
        "-o",
        "answer.md",
        "--format",
        "markdown",
        "--verification",
        "v.py",
        stdin=TRACE,
        cwd=tmp_path,
    )
    assert done.returncode == 0
    assert done.stdout == b""
    assert (tmp_path / "answer.md").read_text().startswith("### RuntimeError")
    compile((tmp_path / "v.py").read_text(), "v.py", "exec")


def test_an_output_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    done = run("-o", str(tmp_path / "no" / "such.txt"), stdin=TRACE)
    assert done.returncode == 2
    assert "cannot be written" in done.stderr.decode()


@pytest.mark.parametrize(
    ("options", "env", "colored"),
    [
        ((), {}, False),
        (("--color", "always"), {}, True),
        (("--color", "always"), {"NO_COLOR": "1"}, True),
        (("--color", "never"), {}, False),
    ],
)
def test_colour_in_a_pipe(options: tuple[str, ...], env: dict[str, str], colored: bool) -> None:
    assert (b"\x1b[" in run(*options, stdin=TRACE, env=env).stdout) is colored


@pytest.mark.skipif(os.name != "posix", reason="needs pseudo-terminals")
@pytest.mark.parametrize(("no_color", "colored"), [("", True), ("1", False)])
def test_a_terminal_is_asked_to_paste_and_gets_colour(no_color: str, colored: bool) -> None:
    import pty

    child, terminal = pty.openpty()
    env = {**os.environ, "NO_COLOR": no_color, "TERM": "xterm"}
    process = subprocess.Popen(
        [sys.executable, "-m", "diagnose"],
        stdin=terminal,
        stdout=terminal,
        stderr=terminal,
        env=env,
    )
    os.close(terminal)
    os.write(child, b"\n" + TRACE.encode() + b"\n\x04")
    shown = b""
    try:
        while chunk := os.read(child, 65536):
            shown += chunk
    except OSError:
        pass  # the terminal closes when the process ends
    os.close(child)
    assert process.wait(60) == 0
    assert b"Paste the traceback or log, then end with Ctrl-D" in shown
    assert (b"\x1b[1m" in shown) is colored


def test_chinese_answer() -> None:
    text = run("--lang", "zh", stdin=TRACE).stdout.decode()
    assert "修改" in text
    assert "unregistered-tensor" in text


def test_top_limits_the_causes() -> None:
    assert len(json.loads(run("--format", "json", "--top", "1", stdin=TRACE).stdout)["causes"]) == 1


def test_usage_errors_have_status_2() -> None:
    assert run("--format", "yaml", stdin=TRACE).returncode == 2
    for command in (["explain"], ["explain", "--verification"]):
        for typed in ("rank-devices", "rank-dev"):
            done = run(*command, typed)
            assert done.returncode == 2
            assert "Did you mean rank-device" in done.stderr.decode()
    nothing = run("explain", "qqqq")
    assert (nothing.returncode, nothing.stderr) == (3, b"")


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        (("explan", "cross-shard-op"), "explain"),
        (("chek", "train.py"), "check"),
        (("serv",), "serve"),
        (("kb", "chck"), "check"),
        (("kb", "check", "easyedit-memit"), "easyedit-memit-delta"),
        (("kb", "record", "easyedit-memit"), "easyedit-memit-delta"),
        (("check", "--select", "cros-shard-op", "."), "cross-shard-op"),
        (("check", "--ignore", "creatd-without-device", "."), "created-without-device"),
    ],
)
def test_a_slip_of_the_pen_is_told_what_it_may_mean(typed: tuple[str, ...], meant: str) -> None:
    done = run(*typed)
    assert done.returncode == 2
    assert "did you mean" in done.stderr.decode().lower()
    assert meant in done.stderr.decode()


def test_a_file_may_be_called_as_a_command_nearly_is(tmp_path: Path) -> None:
    (tmp_path / "scans").write_text(TRACE)
    assert run("scans", cwd=tmp_path).returncode == 0
    done = run("weightlog")
    assert (done.returncode, b"cannot be read" in done.stderr) == (2, True)


def test_help_and_version_load_nothing_heavy() -> None:
    shown = run("--help").stdout.decode()
    assert "diagnose < traceback.txt" in shown
    assert "serve" in shown
    assert run("--version").stdout.decode().startswith("diagnose, version ")


def test_explain_tells_what_of_an_incident_was_inferred(casebase: Casebase) -> None:
    one = next(incident for incident in casebase.incidents.values() if incident.inferred)
    shown = run("explain", one.id).stdout.decode()
    for told in one.inferred:
        assert f"inferred, {told}" in shown


def test_explain_and_cases_show_the_case_base() -> None:
    shown = run("explain", "cross-shard-op").stdout.decode()
    assert "def mistake(devices)" in shown
    assert "def fixed(devices)" in shown
    listed = run("explain").stdout.decode()
    assert "cross-shard-op" in listed
    incident = next(line[2:].split(":")[0] for line in shown.splitlines() if line.startswith("* "))
    assert "https://" in run("explain", incident).stdout.decode()


def test_cases_check_and_build_tell_mistakes(kb: Path, tmp_path: Path) -> None:
    assert run("kb", "check", "--kb", str(kb)).returncode == 0
    (tmp_path / "kb" / "causes").mkdir(parents=True)
    (tmp_path / "kb" / "causes" / "x.toml").write_text("id = 1\n")
    done = run("kb", "check", "--kb", str(tmp_path / "kb"))
    assert done.returncode == 1
    assert "causes/x.toml:1: id: " in done.stdout.decode()
    done = run("kb", "build", "--kb", str(tmp_path / "kb"), "-o", str(tmp_path / "out.sqlite"))
    assert done.returncode == 2
    assert not (tmp_path / "out.sqlite").exists()


def test_a_missing_case_base_gets_a_sentence(tmp_path: Path) -> None:
    done = run(stdin=TRACE, env={"DIAGNOSE_CASEBASE": str(tmp_path / "none.sqlite")})
    assert done.returncode == 2
    assert "diagnose kb build" in done.stderr.decode()


def test_an_answer_loads_none_of_the_heavy_packages() -> None:
    code = (
        "import sys, io; from diagnose.pipeline import diagnose; from diagnose.rendering import text;"
        f"text.render(diagnose({TRACE!r}));"
        "print([m for m in ('torch','flask','sqlalchemy','numpy','jinja2') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_command_loads_only_what_it_needs(tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text("import torch\n")
    lines = [
        [str(KNOWN)],
        ["--group", str(KNOWN)],
        ["check", "net.py"],
        ["explain"],
        ["explain", "rank-device"],
        ["explain", "loss", "weights", "on", "the", "cpu"],
        *([name, "--help"] for name in COMMANDS),
    ]
    code = (
        "import sys; from diagnose.cli import main\n"
        f"for words in {lines!r}:\n"
        "    try: main(words)\n"
        "    except SystemExit as end: assert end.code in (0, 1), words\n"
        "    found = {'torch', 'flask', 'sqlalchemy', 'numpy', 'jinja2', 'pydantic'} & {*sys.modules}\n"
        "    assert not found, (words, found)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr


def test_importing_the_package_loads_nothing() -> None:
    code = (
        "import sys; before = set(sys.modules); import diagnose;"
        "print(sorted(m for m in set(sys.modules) - before if not m.startswith('diagnose')))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    for heavy in ("torch", "flask", "sqlalchemy", "regex", "rapidfuzz", "click"):
        assert f"'{heavy}'" not in done.stdout


def test_a_reader_that_leaves_early_is_no_error() -> None:
    code = f"{sys.executable} -m diagnose | head -1"
    done = subprocess.run(code, shell=True, input=TRACE.encode(), capture_output=True, timeout=60)
    assert done.stdout.startswith(b"RuntimeError")
    assert b"Traceback" not in done.stderr
    assert b"BrokenPipe" not in done.stderr


@pytest.mark.parametrize("form", ["text", "json", "markdown"])
def test_the_straight_way_says_what_the_options_say(form: str) -> None:
    straight = run("--format", form, stdin=TRACE)
    by_click = run("--format", form, "--top", "3", stdin=TRACE)
    assert (straight.returncode, straight.stdout) == (by_click.returncode, by_click.stdout)
    assert straight.returncode == 0


@pytest.mark.parametrize("arguments", [[], ["--format", "json"], ["-"], ["--group", "-"]])
def test_the_straight_way_imports_no_click(arguments: list[str]) -> None:
    code = (
        "import sys\nfrom diagnose.cli import main\n"
        f"sys.argv = ['diagnose', *{arguments!r}]\n"
        "try:\n    main()\nexcept SystemExit as done:\n    status = done.code\n"
        "print({'click', 'flask', 'sqlalchemy', 'torch'} & set(sys.modules), status, file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], input=TRACE.encode(), capture_output=True)
    assert done.stderr.decode().strip() == f"set() {int('--group' in arguments)}"


def test_usage_is_told_alike_on_both_ways(tmp_path: Path) -> None:
    env = {"DIAGNOSE_CASEBASE": str(tmp_path / "none.sqlite")}
    straight, by_click = run(stdin=TRACE, env=env), run("--top", "3", stdin=TRACE, env=env)
    assert (straight.returncode, straight.stderr) == (2, by_click.stderr)
    assert straight.stderr.startswith(b"Error: the case base")


@pytest.mark.parametrize(
    ("variables", "linked"),
    [
        ({}, False),
        ({"FORCE_HYPERLINK": "1"}, True),
        ({"TERM_PROGRAM": "vscode"}, False),  # it is no terminal that is written to
    ],
)
def test_links_are_for_terminals_that_ask_for_them(variables: dict[str, str], linked: bool) -> None:
    unasked = {k: v for k, v in os.environ.items() if k not in ("FORCE_HYPERLINK", "TERM_PROGRAM")}
    done = subprocess.run(
        [sys.executable, "-m", "diagnose", "--color", "always"],
        input=KNOWN.read_bytes(),
        capture_output=True,
        env={**unasked, **variables},
    )
    assert (b"\x1b]8;;https://" in done.stdout) is linked
    plain = subprocess.run(
        [sys.executable, "-m", "diagnose"],
        input=TRACE.encode(),
        capture_output=True,
        env={**unasked, **variables},
    )
    assert b"\x1b" not in plain.stdout
