"""One traceback in every wrapping that launchers, collectors, chats and pages put around it."""

from __future__ import annotations

import html
import json
import quopri
import random
from collections.abc import Callable
from pathlib import Path

import pytest
from parsing.knowledge import parse

from diagnose.parsing.decoding import decode

FORMS = Path(__file__).with_name("forms")
PLAIN = (FORMS / "cpython.txt").read_text()
ENDS = [(9, "train_step"), (6, "new_forward"), (5, "forward"), (10, "project")]


def each(before: str, after: str = "") -> Callable[[str], str]:
    """Puts a prefix before each line, and what a collector writes after it; {n} counts."""
    return lambda text: "".join(
        f"{before}{line}{after}\n".replace("{n}", f"{n % 60:02}")
        for n, line in enumerate(text.splitlines())
    )


def json_lines(**fields: object) -> Callable[[str], str]:
    def dress(text: str) -> str:
        rows = [
            json.dumps({k: line + "\n" if v is None else v for k, v in fields.items()})
            for line in text.splitlines()
        ]
        return "\n".join(rows) + "\n"

    return dress


def interleaved(text: str) -> str:
    rng = random.Random(7)
    queues = {rank: [f"[rank{rank}]: {line}" for line in text.splitlines()] for rank in (3, 0, 11)}
    said: list[str] = []
    while queues:
        rank = rng.choice(sorted(queues))
        said.append(queues[rank].pop(0))
        if not queues[rank]:
            del queues[rank]
    return "\n".join(said)


def partial_cri(text: str) -> str:
    said = []
    for n, line in enumerate(text.splitlines()):
        stamp = f"2026-02-03T04:05:{n % 60:02}.123456789Z stderr"
        if len(line) > 60:
            said += [f"{stamp} P {line[:60]}", f"{stamp} F {line[60:]}"]
        else:
            said.append(f"{stamp} F {line}")
    return "\n".join(said)


DRESSES: dict[str, Callable[[str], str]] = {
    "plain": str,
    "crlf": lambda t: t.replace("\n", "\r\n"),
    "lone-cr": lambda t: t.replace("\n", "\r"),
    "progress-bar": lambda t: "  0%|   | 0/9\r 11%|#  | 1/9\r 22%|## | 2/9" + t,
    "torchrun": each("[rank1]: "),
    "torchrun-tee": each("[default3]:"),
    "rank-bare": each("rank2: "),
    "interleaved": interleaved,
    "srun": each(" 5: "),
    "mpirun": each("[1,3]<stderr>: "),
    "prterun": each("[prterun-node7-3119@1,0]<stderr>: "),
    "mpich": each("[2] "),
    "horovod-gloo": each("[0]<stderr>:"),
    "sagemaker": each("[1,mpirank:0,algo-1]<stderr>:"),
    "ray": each("(RayTrainWorker pid=812, ip=10.0.0.3) "),
    "ray-colour": each("\x1b[36m(WorkerDict pid=812)\x1b[0m "),
    "vllm": each("(EngineCore_0 pid=812) ERROR 06-10 12:00:{n} [core.py:588] "),
    "pdsh": each("worker-1: "),
    "pdsh-rank": each("worker-1: [rank0]: "),
    "docker-compose": each("trainer-1  | "),
    "docker-json": json_lines(log=None, stream="stderr", time="2026-02-03T04:05:06Z"),
    "cri": each("2026-02-03T04:05:{n}.123456789Z stderr F "),
    "cri-partial": partial_cri,
    "github-actions": each("2026-02-03T04:05:{n}.1234567Z "),
    "gitlab": each("2026-02-03T04:05:{n}.123456Z 01E "),
    "azure": each("2026-02-03 04:05:{n},123 "),
    "kubectl-prefix": each("[pod/train-0/main] "),
    "stern": each("train-0 main "),
    "syslog": each("Feb  3 04:05:{n} node7 train.sh[4711]: "),
    "journald-iso": each("2026-02-03T04:05:{n}+0000 node7 python[4711]: "),
    "dmesg-like": each("[  12.3456{n}] "),
    "glog": each("E0203 04:05:{n}.123456 4711 runner.py:77] "),
    "loguru-lines": each("2026-02-03 04:05:{n}.123 | ERROR    | __main__:main:14 - "),
    "logging-lines": each("2026-02-03 04:05:{n},123 - trainer - ERROR - "),
    "logging-short": each("ERROR:trainer:"),
    "deepspeed-log": each("[2026-02-03 04:05:{n},123] [ERROR] [runner.py:77:run] [Rank 0] "),
    "grep-n": lambda t: "".join(f"{n}:{line}\n" for n, line in enumerate(t.splitlines(), 118)),
    "cat-n": lambda t: "".join(f"{n:6}\t{line}\n" for n, line in enumerate(t.splitlines(), 118)),
    "numbered": lambda t: "".join(f"{n:4d} | {x}\n" for n, x in enumerate(t.splitlines(), 1)),
    "airflow": each("[2026-02-03, 04:05:{n} UTC] {process_utils.py:187} INFO - "),
    "wandb": each("wandb: "),
    "srun-two-tasks": lambda t: "".join(f"{n}: {x}\n" for x in t.splitlines() for n in (0, 1)),
    "two-pods": lambda t: "".join(f"train-{n} main {x}\n" for x in t.splitlines() for n in (0, 1)),
    "quoted-mail": each("> "),
    "quoted-twice": each(">> "),
    "comment": each("# "),
    "diff": each("+"),
    "fence": lambda t: f"I get this:\n\n```python-traceback\n{t}```\nAny idea?\n",
    "fence-quoted": lambda t: "".join(f"> {x}\n" for x in f"```\n{t}```".splitlines()),
    "ticked": lambda t: "`" + t.rstrip("\n") + "`\n",
    "ticked-thrice": lambda t: "```" + t.rstrip("\n") + "```\n\nAny idea?\n",
    "markdown-indented": each("    "),
    "details": lambda t: f"<details><summary>Log</summary>\n\n```\n{t}```\n</details>\n",
    "html-pre": lambda t: f"<html><body><pre>{html.escape(t)}</pre></body></html>",
    "html-br": lambda t: html.escape(t).replace("\n", "<br/>\n").replace(" ", "&nbsp;"),
    "html-numeric": lambda t: html.escape(t).replace("&quot;", "&#34;").replace("&#x27;", "&#39;"),
    "html-twice": lambda t: html.escape(html.escape(t)),
    "json-string": lambda t: json.dumps(t),
    "json-message": lambda t: json.dumps({"level": "ERROR", "message": "failed\n" + t, "rank": 3}),
    "json-gcp": lambda t: json.dumps({"severity": "ERROR", "textPayload": t, "labels": {"a": "b"}}),
    "json-ecs": lambda t: json.dumps({"log.level": "error", "error": {"stack_trace": t}}),
    "json-otel": lambda t: json.dumps(
        {"body": "x", "attributes": {"exception.type": "RuntimeError", "exception.stacktrace": t}}
    ),
    "json-pretty": lambda t: json.dumps({"failures": [{"rank": 1, "trace": t}]}, indent=2),
    "json-lines-list": lambda t: json.dumps({"exc_text": t.splitlines(keepends=True)}),
    "journald-json": json_lines(MESSAGE=None, _PID="4711", PRIORITY="3"),
    "kaggle": lambda t: "[" + ",\n".join(
        json.dumps({"stream_name": "stderr", "time": n, "data": line + "\n"})
        for n, line in enumerate(t.splitlines())
    ) + "]",
    "elastic": lambda t: json.dumps(
        {"message": {"message": t.splitlines()[-1], "extraInfo": {"py_callstack": t}}}
    ),
    "logfmt": lambda t: "level=error msg=failed exc=" + json.dumps(t),
    "repr-bytes": lambda t: f"worker returned {t.encode()!r}",
    "csv": lambda t: 'id,log\n7,"' + t.replace('"', '""') + '"\n',
    "yaml": lambda t: "containerStatuses:\n- message: |\n" + each("    ")(t),
    "utf-8-bom": lambda t: "\ufeff" + t,
    "typographic": lambda t: t.replace('File "', "File \u201c").replace('", line', "\u201d, line"),
    "no-indentation": lambda t: "\n".join(line.strip() for line in t.splitlines()),
    "nbsp": lambda t: t.replace("  ", "\u00a0\u00a0"),
    "tabs": lambda t: t.replace("    ", "\t\t").replace("  File", "\tFile"),
    "blank-lines": lambda t: t.replace("\n", "\n\n"),
    "flattened": lambda t: " ".join(line.strip() for line in t.splitlines() if line.strip(" ^~") != ""),
    "narrow-terminal": lambda t: "\n".join(
        line[i : i + 60] for line in t.splitlines() for i in range(0, max(len(line), 1), 60)
    ),
    "docker-compose+rank": each("trainer-1  | [rank0]: "),
    "cri+json": lambda t: "2026-02-03T04:05:06.1Z stderr F " + json.dumps({"event": "x", "exception": t}),
    "quoted+rank": each("> [rank3]: "),
    "ansi-lines": lambda t: "".join(f"\x1b[31m{line}\x1b[0m\n" for line in t.splitlines()),
    "ansi-spelled": lambda t: "".join(f"\\u001b[31m{line}\\u001b[0m\n" for line in t.splitlines()),
    "github-job": each("train\tRun train\t2026-02-03T04:05:{n}.1234567Z "),
    "cloudwatch-tail": each("2026-02-03T04:05:{n}.123000+00:00 algo-1/train "),
    "cloudwatch-text": each("EVENTS\t17700915{n}123\t", "\t17700915{n}000"),
    "cloudwatch-json": lambda t: json.dumps(
        {"events": [{"timestamp": n, "message": x} for n, x in enumerate(t.splitlines())]}, indent=4
    ),
    "kaggle-indented": lambda t: json.dumps(
        [{"stream_name": "stderr", "data": x + "\n"} for x in t.splitlines()], indent=1
    ),
    "fluentd": lambda t: "".join(
        "2026-02-03 04:05:06 +0000 kube.train: " + json.dumps({"log": x + "\n"}) + "\n"
        for x in t.splitlines()
    ),
    "gcp-lines": lambda t: "".join(
        json.dumps({"severity": "ERROR", "jsonPayload": {"message": x}}) + "\n" for x in t.splitlines()
    ),
    "airflow-2": each("[2026-02-03T04:05:{n}.123+0000] {{train.py:88}} INFO - "),
    "loki": each('2026-02-03T04:05:{n}Z {app="train"} '),
    "prefect": each("04:05:{n}.123 | ERROR   | Task run 'x-1' - "),
    "html-spans": lambda t: "<pre>" + "".join(
        "".join(f"<span>{html.escape(word)}</span>" for word in x.split(" ")).replace("</span><", "</span> <")
        + "\n" for x in t.splitlines()
    ) + "</pre>",
    "html-table": lambda t: "".join(
        f'<tr><td>{n}</td><td><code>{html.escape(x)}</code></td></tr>\n' for n, x in enumerate(t.splitlines(), 1)
    ),
    "nbsp-all": lambda t: t.replace(" ", "\u00a0"),
    "log-between": lambda t: "".join(
        x + "\n" + "2026-02-03 04:05:06,123 INFO step 3\n" * (n % 4 == 3) for n, x in enumerate(t.splitlines())
    ),
    "datadog-csv": lambda t: "Date,Host,Content\n" + "".join(
        '"2026-02-03T04:05:06Z","n7","' + x.replace('"', '""') + '"\n' for x in t.splitlines()
    ),
    "loki-http": lambda t: json.dumps(
        {"data": {"result": [{"values": [[str(n), x] for n, x in enumerate(t.splitlines())]}]}}
    ),
    "datadog-json": lambda t: json.dumps(
        {"data": [{"id": "a", "attributes": {"message": x}} for x in t.splitlines()]}
    ),
    "elastic-hits": lambda t: json.dumps(
        {"hits": {"hits": [{"_source": {"message": x}} for x in t.splitlines()]}}, indent=2
    ),
    "splunk": lambda t: "".join(json.dumps({"result": {"_raw": x}}) + "\n" for x in t.splitlines()),
    "github-annotation": lambda t: "::error file=a.py::" + t.replace("%", "%25").replace("\n", "%0A"),
    "rsyslog": lambda t: "Feb  3 04:05:06 node7 train: failed#012" + t.replace("\n", "#012"),
    "return-symbols": lambda t: t.replace("\n", "\u240a"),
    "unicode-line-ends": lambda t: t.replace("\n", "\u2028"),
    "journald-bytes": lambda t: "".join(
        json.dumps({"MESSAGE": list(x.encode()), "_PID": "4711"}) + "\n" for x in t.splitlines()
    ),
    "journald-export": lambda t: "".join(
        f"__CURSOR=s=4f;i={n:x}\nPRIORITY=6\n_PID=47\nMESSAGE={x}\n\n" for n, x in enumerate(t.splitlines())
    ),
    "time-above-each-line": lambda t: "".join(
        f"2026-02-03T04:05:{n % 60:02}.123+01:00\n{x}\n" for n, x in enumerate(t.splitlines())
    ),
    "shown-returns": lambda t: t.replace("\n", "^M\n"),
    "broken-bytes": lambda t: t.replace("\n", "\ufffd\n"),
    "two-addresses": lambda t: "".join(f"10.0.0.{n}: {x}\n" for x in t.splitlines() for n in (1, 2)),
    "markdown-escapes": lambda t: t.replace("_", "\\_").replace("<", "\\<"),
    "piped": lambda t: "ERROR failed | " + t.replace("\n", " | "),
    "slog": lambda t: "".join(
        f"time=2026-02-03T04:05:06Z level=ERROR msg={json.dumps(x)} rank=3\n" for x in t.splitlines()
    ),
    "logrus": lambda t: "".join(
        f'time="2026-02-03T04:05:06Z" level=info msg={json.dumps(x)} argo=true\n' for x in t.splitlines()
    ),
    "zap": each("2026-02-03T04:05:{n}.123Z\tINFO\trun/exec.go:88\t", '\t{"rank": 3, "job": "a-9"}'),
    "fluent-bit": each('[{n}] kube.var.log: [[1747215667.0{n}, {}], {"stream"=>"stderr", "log"=>"', '"}]'),
    "yaml-list": lambda t: "log:\n" + each("- '", "'")(t.replace("'", "''")),
    "repr-lines": lambda t: "".join(f"proc.stderr: {(x + chr(10)).encode()!r}\n" for x in t.splitlines()),
    "psql": each("       | ", "            +"),
    "gh-log": each("train\tRun python\t2026-02-03T04:05:{n}.1234567Z "),
    "quoted-printable": lambda t: quopri.encodestring(t.encode()).decode(),
    "gelf": lambda t: json.dumps({"version": "1.1", "short_message": "failed", "full_message": t}),
    "json-escaped-html": lambda t: "".join(
        json.dumps({"log": html.escape(x) + "\n", "stream": "stderr"}) + "\n" for x in t.splitlines()
    ),
    "wide-commas": lambda t: t.replace('", line', '"\uff0cline').replace(", in ", "\uff0c in "),
    "hole": lambda t: "\0" * 70_000 + t,
    "grep-n>srun": lambda t: "".join(
        f"slurm-88.out:{2 * n + rank}:{rank}: {x}\n" for n, x in enumerate(t.splitlines()) for rank in (0, 1)
    ),
    "kubectl-wrapped": lambda t: "".join(
        f"{line[i : i + 90]}\n" for line in each("[pod/train-0/main] ")(t).splitlines()
        for i in range(0, max(len(line), 1), 90)
    ),
    "ansi-lost-escape": lambda t: "".join(f"[0;31m{line}[0m\n" for line in t.splitlines()),
}  # fmt: skip


@pytest.mark.parametrize("name", DRESSES)
def test_traceback_is_read_through(name: str) -> None:
    report = parse(DRESSES[name](PLAIN))
    assert report.error is not None
    assert report.error.type == "RuntimeError"
    assert report.error.family == "device-placement"
    assert [(f.line, f.function) for f in report.frames[-4:]] == ENDS
    assert report.libraries == ("accelerate", "peft")
    assert report.mismatch is not None
    assert report.mismatch.devices == ("cuda:1", "cpu")
    assert report.mismatch.op == "wrapper_CUDA_mm"
    assert report.mismatch.argument == "mat2"


#: What changes the text itself, not what stands around it: no box and no column survives that.
LOSSY = {
    "flattened", "narrow-terminal", "no-indentation", "tabs", "log-between", "piped", "repr-lines",
}  # fmt: skip
#: The tree of a group is drawn with the very characters of these prefixes.
AMBIGUOUS = {("diff", "cpython-group"), ("numbered", "cpython-group"), ("psql", "cpython-group")}
OTHER_FORMS = (
    "rich-80", "ipython-context", "pytest-long", "pytest-short", "cpython-group", "cpython-chained",
    "loguru-color", "structlog-console", "stackprinter", "better-exceptions", "multiprocessing-pool",
)  # fmt: skip


@pytest.mark.parametrize("name", [name for name in DRESSES if name not in LOSSY])
def test_other_forms_are_read_through(name: str) -> None:
    for form in OTHER_FORMS:
        if (name, form) not in AMBIGUOUS:
            assert_read(DRESSES[name]((FORMS / f"{form}.txt").read_text()), form)


#: Transports that really stand in one another, the innermost first.
NESTED = (
    "torchrun>docker-json", "torchrun>cri", "torchrun>docker-compose", "torchrun-tee>cri", "interleaved>cri",
    "interleaved>docker-json", "interleaved>pdsh", "interleaved>github-actions", "torchrun>pdsh>github-actions",
    "torchrun>docker-json>fluentd", "srun>journald-json", "mpirun>sagemaker", "torchrun>cloudwatch-tail",
    "ray>docker-json", "ray-colour>cri", "ray>quoted-mail", "logging-lines>torchrun>docker-compose", "docker-compose>fence",
    "torchrun>fence>quoted-mail", "github-actions>fence-quoted", "json-message>docker-json", "json-message>cri",
    "json-ecs>docker-json>fluentd", "docker-json>json-string", "torchrun>html-pre", "cri>html-br", "torchrun>json-string>fence",
    "torchrun>crlf", "ansi-lines>torchrun>docker-json", "ansi-lines>cri>html-pre", "torchrun>kaggle", "torchrun>gcp-lines",
    "torchrun>cloudwatch-json", "srun>airflow-2", "repr-bytes>torchrun", "json-string>logging-lines", "glog>stern",
    "interleaved>syslog>fence", "interleaved>html-pre", "torchrun>grep-n", "deepspeed-log>pdsh", "progress-bar>torchrun",
)  # fmt: skip


@pytest.mark.parametrize("layers", NESTED)
def test_transports_within_transports(layers: str) -> None:
    for form in ("cpython", "rich-80", "ipython-context", "pytest-short"):
        text = (FORMS / f"{form}.txt").read_text()
        for name in layers.split(">"):
            text = DRESSES[name](text)
        assert_read(text, form)


def assert_read(text: str, form: str) -> None:
    report = parse(text)
    ends = [(f.line, (f.function or "").split(".")[-1]) for f in report.frames[-4:]]
    assert ends == ENDS, form
    assert report.mismatch is not None, form
    assert report.mismatch.devices == ("cuda:1", "cpu"), form


@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"]
)
def test_encodings(encoding: str) -> None:
    report = parse(PLAIN.encode(encoding))
    assert report.mismatch is not None
    assert [f.line for f in report.frames[-4:]] == [line for line, _ in ENDS]


@pytest.mark.parametrize("encoding", ["gbk", "gb18030"])
def test_a_chinese_windows_path_is_whole(encoding: str) -> None:
    told = PLAIN.replace("/home/user/proj", "D:\\项目\\训练") + "错误\n"
    report = parse(told.encode(encoding))
    assert report.mismatch is not None
    assert any("项目\\训练" in frame.file for frame in report.frames)


@pytest.mark.parametrize(
    "data",
    [
        "中文日志 训练失败\n".encode() * 9 + b"\xe4\xb8\n",
        "déjà vu à l'été, élan\n".encode("latin-1") * 9,
    ],
)
def test_what_is_not_gbk_is_not_read_as_gbk(data: bytes) -> None:
    assert decode(data).count("\ufffd") in (1, 54)


def test_broken_bytes_do_not_hide_the_traceback() -> None:
    report = parse(b"\xfa\xfe epoch \xc3\x28\n" + PLAIN.encode() + b"\x80\x81")
    assert report.mismatch is not None


def test_a_binary_file_holds_no_error() -> None:
    assert parse(b"\x7fELF\0\0\0\1\2" * 9000 + PLAIN.encode()).error is None


def test_ranks_are_told_apart() -> None:
    report = parse(interleaved(PLAIN))
    assert report.ranks == (0, 3, 11)
    assert len(report.frames) == 6
