"""Prints the error of record_forms.py as launchers, old interpreters and log collectors give it.

    python tests/parsing/record_launches.py [--python ALIAS=PATH ...] [NAME ...]

``ALIAS``: `torch` (any Python with torch), `ray`, `ipython` (with pygments), `py36` and `py313` (any with
no packages), `ipython5`, `ipython7`; forms whose interpreter is not given are left as they are. The forms
of collectors (`COLLECTED`) need none: they are written from other recorded samples, in the shape that the
collectors document.
"""

from __future__ import annotations

import json
import random
import re
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterable
from pathlib import Path

try:
    from parsing.record_forms import FORMS, HOME, PLAIN, PROJECT, SITE, _environment, caught
except ImportError:
    from record_forms import FORMS, HOME, PLAIN, PROJECT, SITE, _environment, caught  # type: ignore

_SPAWNED = PLAIN.replace("def main():", "def main(rank=0):")


def _ultratb(mode: str, colours: str) -> str:
    return "from IPython.core.ultratb import FormattedTB\nimport sys\n" + caught(
        f"print(FormattedTB(mode='{mode}', color_scheme='{colours}').text(*sys.exc_info()))"
    )


_ELASTIC = ["-m", "torch.distributed.run", "--nproc-per-node=2", "train.py"]
_RECORDED = (
    "from torch.distributed.elastic.multiprocessing.errors import record\n"
    + PLAIN.replace("def main", "@record\ndef main")
    + "main()\n"
)
_RAY = "import ray\nray.init(num_cpus=1, include_dashboard=False, logging_level=40)\n"

#: Programs by the name of the form: interpreter, arguments, source, environment.
LAUNCHED: dict[str, tuple[str, list[str], str, dict[str, str]]] = {
    "cpython-3.6": ("py36", ["train.py"], PLAIN + "main()\n", {}),
    "cpython-3.13-color": ("py313", ["train.py"], PLAIN + "main()\n", {"FORCE_COLOR": "1"}),
    "ipython-5-context": (
        "ipython5", ["train.py"], _ultratb("Context", "Linux"), {},
    ),
    "ipython-7-verbose": (
        "ipython7", ["train.py"], _ultratb("Verbose", "NoColor"), {},
    ),
    "pygments-html": ("ipython", ["train.py"], caught(
        "import pygments, traceback\n    from pygments.formatters import HtmlFormatter\n"
        "    from pygments.lexers import PythonTracebackLexer\n    print(pygments.highlight("
        "traceback.format_exc(), PythonTracebackLexer(), HtmlFormatter()))"
    ), {}),
    "torchrun": ("torch", _ELASTIC, _RECORDED, {}),
    "torchrun-tee": (
        "torch", [*_ELASTIC[:-1], "--log-dir=/tmp/record-launches", "--tee=3", "train.py"],
        PLAIN + "main()\n", {},
    ),
    "elastic-error-file": (
        "torch", ["train.py"],
        _RECORDED.removesuffix("main()\n")
        + "try:\n    main()\nexcept RuntimeError:\n    print(open('error.json').read())\n",
        {"TORCHELASTIC_ERROR_FILE": "error.json"},
    ),
    "dataloader-worker": (
        "torch", ["train.py"],
        "from torch.utils.data import DataLoader, Dataset\n" + PLAIN
        + "class Items(Dataset):\n    def __len__(self):\n        return 2\n\n"
        + "    def __getitem__(self, index):\n        main()\n\n"
        + "if __name__ == '__main__':\n    list(DataLoader(Items(), num_workers=1))\n", {},
    ),
    "mp-spawn": (
        "torch", ["train.py"],
        "import torch.multiprocessing as mp\n" + _SPAWNED
        + "if __name__ == '__main__':\n    mp.spawn(main, nprocs=1)\n", {},
    ),
    "replica": (
        "torch", ["train.py"],
        "from torch._utils import ExceptionWrapper\n" + PLAIN
        + "def replica():\n    try:\n        main()\n    except Exception:\n"
        + "        return ExceptionWrapper(where='in replica 1 on device 1')\n\nreplica().reraise()\n",
        {},
    ),
    "ray-task": (
        "ray", ["train.py"], _RAY + PLAIN + "@ray.remote\ndef step():\n    main()\n\n"
        + "ray.get(step.remote())\n", {},
    ),
}  # fmt: skip


def each(prefix: str) -> Callable[[str], str]:
    """Puts a prefix before each line; {n} counts."""
    return lambda text: _lines(
        prefix.replace("{n}", f"{n % 60:02}") + line for n, line in enumerate(text.splitlines())
    )


def _lines(lines: Iterable[str]) -> str:
    return "".join(line + "\n" for line in lines)


def _docker(text: str) -> str:
    """Docker's json-file driver: a record a line, the terminal's carriage return in it."""
    stamp = "2026-02-03T04:05:06.123456789Z"
    return _lines(
        json.dumps({"log": line + "\r\n", "stream": "stdout", "time": stamp}, separators=(",", ":"))
        for line in text.splitlines()
    )


def _cri(text: str) -> str:
    """The log of a container runtime in Kubernetes: long lines in pieces, P until the last, F."""
    said: list[str] = []
    for line in text.splitlines():
        pieces = [line[at : at + 64] for at in range(0, len(line), 64)] or [""]
        flags = ["P"] * (len(pieces) - 1) + ["F"]
        said += [f"2026-02-03T04:05:06.123456789Z stderr {f} {p}" for f, p in zip(flags, pieces)]  # noqa: B905
    return _lines(said)


def _journal_json(text: str) -> str:
    """`journalctl -o json`: a message with an escape in it is a list of bytes."""
    return _lines(
        json.dumps({
            "_HOSTNAME": "node7", "_PID": "4711", "PRIORITY": "6",
            "MESSAGE": line if line.isprintable() and line.isascii() else list(line.encode()),
        })
        for line in text.splitlines()
    )  # fmt: skip


def _journal_export(text: str) -> str:
    """`journalctl -o export`: a field a line, a blank line after each entry."""
    return _lines(
        f"__CURSOR=s=4f;i={n:x}\n__REALTIME_TIMESTAMP=17700915{n:08}\nPRIORITY=6\n_PID=4711\nMESSAGE={x}\n"
        for n, x in enumerate(text.splitlines())
    )


def _kaggle(text: str) -> str:
    """The log that Kaggle offers for download."""
    records = (
        json.dumps({"stream_name": "stderr", "time": 12.5 + n, "data": line + "\n"})
        for n, line in enumerate(text.splitlines())
    )
    return "[" + "\n,".join(records) + "]\n"


def _insights(text: str) -> str:
    """A query of CloudWatch Insights, exported as CSV."""
    rows = ('"' + line.replace('"', '""') + '"' for line in text.splitlines())
    return "@timestamp,@message,@logStream\n" + _lines(
        f"2026-02-03 04:05:{n % 60:02}.123,{row},algo-1/train" for n, row in enumerate(rows)
    )


def _loki(text: str) -> str:
    """The answer of Loki's query_range."""
    values = [[f"17700915060000000{n:02}", x] for n, x in enumerate(text.splitlines())]
    streams = {"resultType": "streams", "result": [{"stream": {"app": "train"}, "values": values}]}
    return json.dumps({"status": "success", "data": streams})


def _powershell(text: str) -> str:
    """Windows PowerShell 5 makes an error record of what a program writes to stderr, folded at the width."""
    first, *rest = text.splitlines()
    said = [f"python : {first}", "At line:1 char:1", "+ python train.py 2>&1 | Tee-Object train.log",
            "+ ~~~~~~~~~~~~~~~~~~~~~~", "    + CategoryInfo          : NotSpecified: "
            "(Traceback (most recent call last)::String) [], RemoteException",
            "    + FullyQualifiedErrorId : NativeCommandError", " ", *rest]  # fmt: skip
    return "".join(
        line[at : at + 120] + "\r\n" for line in said for at in range(0, max(len(line), 1), 120)
    )


def _mail(text: str) -> str:
    """A quoted mail, its lines folded at blanks."""
    folded = (textwrap.wrap(line, 76, break_long_words=False, break_on_hyphens=False) or [""]
              if len(line) > 76 else [line] for line in text.splitlines())  # fmt: skip
    return "On Tue, Feb 3, 2026, A wrote:\n" + _lines("> " + x for of in folded for x in of)


def _interleaved(text: str) -> str:
    """Two ranks that fail at once."""
    rng = random.Random(3)
    queues = {rank: [f"[rank{rank}]: {line}" for line in text.splitlines()] for rank in (1, 0)}
    said: list[str] = []
    while any(queues.values()):
        rank = rng.choice([rank for rank, left in queues.items() if left])
        said.append(queues[rank].pop(0))
    return _lines(said)


def _progress(text: str) -> str:
    """tqdm's bar, which rewrites its line, before the traceback and within it."""
    bar = "\rEpoch 1:  12%|█▏        | 12/100 [00:05<00:37,  2.37it/s, loss=2.3]"
    head, rest = text.split("\n", 3)[:3], text.split("\n", 3)[3]
    return bar + bar + "\n".join(head) + "\n" + bar + "\r" + rest


def _windows(text: str) -> str:
    return re.sub(r"/(?:home|opt)/[\w/.-]+?\.py", lambda m: "C:" + m[0].replace("/", "\\"), text)


def _github_rendered(text: str) -> str:
    """An issue without a fence, as its page shows it: no indentation, no tags, no underscores."""
    return _lines(line.strip() for line in text.replace("<module>", "").splitlines())


#: Forms of collectors: the recorded sample, and what it went through, the innermost first.
COLLECTED: dict[str, tuple[str, list[Callable[[str], str]]]] = {
    "docker-json": ("cpython", [_docker]),
    "docker-json-rich": ("rich-80", [each("[rank3]: "), _docker]),
    "docker-of-k8s-of-rank-of-rich": ("rich-color-120", [each("[rank3]: "), _cri, _docker]),
    "k8s-cri": ("cpython", [_cri]),
    "journald-short": ("cpython", [each("Feb 03 04:05:{n} node7 python3[4711]: ")]),
    "journald-json": ("pytest-color", [_journal_json]),
    "journald-export": ("cpython", [_journal_export]),
    "rsyslog": ("cpython", [lambda t: "Feb  3 04:05:06 node7 train: " + t.replace("\n", "#012")]),
    "github-actions": ("pytest-short", [each("2026-02-03T04:05:{n}.1234567Z ")]),
    "compose-color": ("cpython", [each("\x1b[36mtrainer-1  |\x1b[0m ")]),
    "kaggle-json": ("ipython-context", [_kaggle]),
    "cloudwatch-csv": ("cpython", [_insights]),
    "loki-json": ("ipython-context", [_loki]),
    "interleaved-ranks": ("cpython", [_interleaved]),
    "interleaved-in-pods": ("rich-80", [_interleaved, each("[pod/train-0/main] ")]),
    "mpirun-timestamped": ("cpython", [each("Tue Feb  3 04:05:{n} 2026[1,3]<stderr>:")]),
    "powershell": ("cpython", [_powershell]),
    "mail-folded": ("cpython", [_mail]),
    "tqdm": ("cpython", [_progress]),
    "windows": ("cpython", [_windows]),
    "rendered-issue": ("cpython", [_github_rendered]),
}


def main(arguments: list[str]) -> None:
    pythons = dict(a.split("=", 1) for a in arguments if "=" in a)
    names = [a for a in arguments if "=" not in a and a != "--python"]
    wanted = {n: f for n, f in LAUNCHED.items() if f[0] in pythons and (not names or n in names)}
    if wanted:
        _launch(wanted, pythons)
    for name, (form, wrappings) in COLLECTED.items():
        if not names or name in names:
            text = (FORMS / f"{form}.txt").read_text(encoding="utf-8")
            for wrap in wrappings:
                text = wrap(text)
            (FORMS / f"{name}.txt").write_bytes(text.encode())


def _launch(
    wanted: dict[str, tuple[str, list[str], str, dict[str, str]]], pythons: dict[str, str]
) -> None:
    root, site = Path(HOME), Path(SITE)
    if root.exists() or site.exists():
        raise SystemExit(f"{root} or {site} is there already")
    try:
        for path, text in PROJECT.items():
            file = site / path.removeprefix("site-packages/") if "/" in path else root / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        for name, (alias, command, program, extra) in wanted.items():
            (root / "train.py").write_text(program)
            environment = {**_environment(root), "PYTHONIOENCODING": "utf-8", **extra}
            done = subprocess.run(
                [pythons[alias], *command], cwd=root, env=environment, timeout=180,
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            )  # fmt: skip
            text = done.stdout.decode("utf-8", errors="replace")
            prefix = str(Path(pythons[alias]).parent.parent)
            text = re.sub(re.escape(prefix) + r"/lib/python3\.\d+/site-packages", SITE, text)
            text = re.sub(r"/\S*?/lib/python3\.\d+/(?!site-packages)", "/usr/lib/python3.11/", text)
            text = text.replace(prefix, "/opt/conda/envs/train").replace(sys.prefix, "/usr")
            (FORMS / f"{name}.txt").write_text(text, encoding="utf-8")
            print(f"{name:24} {len(text.splitlines())} lines")
    finally:
        shutil.rmtree(root, ignore_errors=True)
        shutil.rmtree(site, ignore_errors=True)


if __name__ == "__main__":
    main(sys.argv[1:])
