"""Prints one device error in every form that the real tools give it: tests/parsing/forms/.

    python tests/parsing/record_forms.py [NAME ...]

Wants rich, ipython, nbclient with ipykernel, loguru, structlog, python-json-logger, stackprinter,
better_exceptions, pretty_errors, sentry-sdk and pytest in the interpreter that runs it, and a machine to
spare: a small project is written to the neutral paths themselves (boxes are drawn around them), run, and
removed.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

FORMS = Path(__file__).with_name("forms")
HOME = "/home/user/proj"
SITE = "/opt/conda/envs/train/lib/python3.11/site-packages"

MESSAGE = (
    "Expected all tensors to be on the same device, but found at least two devices, cuda:1 and cpu! "
    "(when checking argument for argument mat2 in method wrapper_CUDA_mm)"
)
#: What ends every recorded traceback.
LAST_FRAMES = (
    ("steps.py", 9, "train_step"),
    ("accelerate/hooks.py", 6, "new_forward"),
    ("peft/tuners/layer.py", 5, "forward"),
    ("peft/tuners/layer.py", 10, "project"),
)

PROJECT = {
    "steps.py": """\
from accelerate.hooks import new_forward
from peft.tuners.layer import Linear


def train_step(batch):
    layer = Linear()
    scale = 0.5

    loss = new_forward(layer, batch)
    return loss * scale
""",
    "site-packages/accelerate/hooks.py": """\
def new_forward(module, *args, **kwargs):
    # Stands for a hook around a module.
    note = "hook"
    del note

    output = module.forward(*args, **kwargs)
    return output
""",
    "site-packages/peft/tuners/layer.py": f"""\
class Linear:
    weight = "W"

    def forward(self, x):
        return self.project(
            x,
        )

    def project(self, x):
        raise RuntimeError({MESSAGE!r})
""",
    "site-packages/accelerate/__init__.py": "",
    "site-packages/peft/__init__.py": "",
    "site-packages/peft/tuners/__init__.py": "",
}

PLAIN = """\
from steps import train_step


def main():
    for batch in ({"ids": 1},):
        train_step(batch)


"""


def caught(handler: str) -> str:
    """A program that hands its error to a logger or a printer."""
    return f"{PLAIN}try:\n    main()\nexcept Exception as error:\n    {handler}\n"


SENTRY = (
    "import json, sentry_sdk\n\ndef keep(event, hint):\n"
    "    print(json.dumps({'exception': event['exception'], 'level': event['level']}, indent=1))\n"
    "    return None\n\nsentry_sdk.init('https://a@example.org/1', before_send=keep, "
    "include_local_variables=False)\n"
)

#: Programs by the name of the form; what they print is the sample.
PROGRAMS = {
    "cpython": PLAIN + "main()\n",
    "cpython-chained": PLAIN + "try:\n    {}['x']\nexcept KeyError:\n    main()\n",
    "cpython-wrapped": PLAIN
    + "try:\n    main()\nexcept RuntimeError as e:\n    raise SystemError(f'epoch 3 failed: {e}') from e\n",
    "cpython-notes": PLAIN
    + "try:\n    main()\nexcept RuntimeError as e:\n"
    + "    e.add_note('while training epoch 3\\nof 10')\n    raise\n",
    "cpython-group": PLAIN
    + "errors = []\nfor job in (main, lambda: int('x')):\n    try:\n        job()\n"
    + "    except Exception as e:\n        errors.append(e)\nraise ExceptionGroup('jobs', errors)\n",
    "cpython-recursion": "import sys\n"
    + PLAIN.replace("def main():", "def main(n=9):\n    if n:\n        return main(n - 1)")
    + "main()\n",
    "thread": "import threading\n"
    + PLAIN
    + "t = threading.Thread(target=main)\nt.start()\nt.join()\n",
    "asyncio-task": "import asyncio\n"
    + PLAIN
    + "async def job():\n    main()\n\nasync def run():\n    task = asyncio.create_task(job())\n"
    + "    await asyncio.sleep(0.01)\n    del task\n\nasyncio.run(run())\n",
    "multiprocessing-pool": "import multiprocessing\n"
    + PLAIN
    + "if __name__ == '__main__':\n    with multiprocessing.Pool(1) as pool:\n        pool.apply(main)\n",
    "futures-process": "import concurrent.futures as cf\n"
    + PLAIN
    + "if __name__ == '__main__':\n    with cf.ProcessPoolExecutor(1) as pool:\n"
    + "        pool.submit(main).result()\n",
    "unittest": "import unittest\n"
    + PLAIN
    + "class T(unittest.TestCase):\n    def test_epoch(self):\n        main()\n\nunittest.main()\n",
    "logging": "import logging\nlogging.basicConfig(format='%(asctime)s %(levelname)s %(name)s: %(message)s')\n"
    + caught("logging.exception('step failed on %s', 'cuda:1')"),
    "logging-stack": "import logging\nlogging.basicConfig(level=20)\nlogging.info('world size 2')\n"
    + caught("logging.error('failed', exc_info=True); logging.info('bye')"),
    "loguru": "from loguru import logger\n" + caught("logger.exception('failed')"),
    "loguru-color": "import sys\nfrom loguru import logger\nlogger.remove()\n"
    + "logger.add(sys.stderr, colorize=True, diagnose=True, backtrace=True)\n"
    + caught("logger.exception('failed')"),
    "loguru-serialize": "import sys\nfrom loguru import logger\nlogger.remove()\n"
    + "logger.add(sys.stderr, serialize=True)\n"
    + caught("logger.exception('failed')"),
    "structlog-console": "import structlog\nlog = structlog.get_logger()\n"
    + caught("log.exception('failed', rank=3)"),
    "structlog-dict": "import structlog\nstructlog.configure(processors=[structlog.processors.add_log_level,"
    + " structlog.processors.dict_tracebacks, structlog.processors.JSONRenderer()])\n"
    + "log = structlog.get_logger()\n"
    + caught("log.exception('failed')"),
    "structlog-logfmt": "import structlog\nstructlog.configure(processors=[structlog.processors.add_log_level,"
    + " structlog.processors.format_exc_info, structlog.processors.LogfmtRenderer()])\n"
    + "log = structlog.get_logger()\n"
    + caught("log.exception('failed')"),
    "python-json-logger": "import logging\nfrom pythonjsonlogger.json import JsonFormatter\n"
    + "h = logging.StreamHandler()\nh.setFormatter(JsonFormatter('%(asctime)s %(levelname)s %(message)s'))\n"
    + "logging.basicConfig(handlers=[h])\n"
    + caught("logging.exception('failed')"),
    "stackprinter": "import stackprinter\n" + caught("stackprinter.show(style='plaintext')"),
    "stackprinter-color": "import stackprinter\n" + caught("stackprinter.show(style='darkbg2')"),
    "better-exceptions": "import better_exceptions\nbetter_exceptions.SUPPORTS_COLOR = True\n"
    + "better_exceptions.hook()\n"
    + PLAIN
    + "main()\n",
    "pretty-errors": "import pretty_errors\npretty_errors.activate()\n" + PLAIN + "main()\n",
    "pretty-errors-full": "import pretty_errors\npretty_errors.configure(filename_display="
    + "pretty_errors.FILENAME_FULL, line_number_first=True, display_link=True, lines_before=2, "
    + "lines_after=2, separator_character='*')\npretty_errors.activate()\n"
    + PLAIN
    + "main()\n",
    "rich-80": "from rich.traceback import install\nfrom rich.console import Console\n"
    + "install(console=Console(width=80, force_terminal=False, stderr=True))\n"
    + PLAIN
    + "main()\n",
    "rich-locals-64": "from rich.traceback import install\nfrom rich.console import Console\n"
    + "install(console=Console(width=64, stderr=True), show_locals=True)\n"
    + PLAIN
    + "main()\n",
    "rich-color-120": "from rich.traceback import install\nfrom rich.console import Console\n"
    + "install(console=Console(width=120, force_terminal=True, stderr=True))\n"
    + PLAIN
    + "main()\n",
    "rich-chained": "from rich.traceback import install\nfrom rich.console import Console\n"
    + "install(console=Console(width=100, stderr=True))\n"
    + PLAIN
    + "try:\n    main()\nexcept RuntimeError as e:\n    raise ValueError('epoch 3') from e\n",
    "rich-logging": "import logging\nfrom rich.logging import RichHandler\nfrom rich.console import Console\n"
    + "logging.basicConfig(format='%(message)s', handlers=[RichHandler(console=Console(width=100), "
    + "rich_tracebacks=True)])\n"
    + caught("logging.exception('failed')"),
    "ipython-context": "from IPython.core.ultratb import FormattedTB\nimport sys\n"
    + caught("print(FormattedTB(mode='Context', {nocolor}).text(*sys.exc_info()))"),
    "ipython-verbose": "from IPython.core.ultratb import FormattedTB\nimport sys\n"
    + caught("print(FormattedTB(mode='Verbose', {nocolor}).text(*sys.exc_info()))"),
    "ipython-plain": "from IPython.core.ultratb import FormattedTB\nimport sys\n"
    + caught("print(FormattedTB(mode='Plain', {nocolor}).text(*sys.exc_info()))"),
    "ipython-minimal": "from IPython.core.ultratb import FormattedTB\nimport sys\n"
    + caught("print(FormattedTB(mode='Minimal', {nocolor}).text(*sys.exc_info()))"),
    "ipython-docs": "from IPython.core.ultratb import FormattedTB\nimport sys\n"
    + caught("print(FormattedTB(mode='Docs', {nocolor}).text(*sys.exc_info()))"),
    "ipython-doctest": "from IPython.core.ultratb import FormattedTB\nimport sys\n"
    + caught("print(FormattedTB(mode='Doctest', {nocolor}).text(*sys.exc_info()))"),
    "cgitb": "import cgitb\nimport sys\n" + caught("print(cgitb.text(sys.exc_info()))"),
    "pdb-where": "import pdb\nimport sys\n"
    + PLAIN
    + "try:\n    main()\nexcept Exception as error:\n    p = pdb.Pdb()\n    p.reset()\n"
    + "    p.setup(None, error.__traceback__)\n    p.print_stack_trace()\n"
    + "    print(f'{type(error).__name__}: {error}')\n",
    "capture-locals": "import traceback\n"
    + caught(
        "print(''.join(traceback.TracebackException.from_exception("
        "error, capture_locals=True).format()))"
    ),
    "faulthandler": "import faulthandler\n"
    + caught("import traceback; traceback.print_exc(); faulthandler.dump_traceback()"),
    "repr": caught("import traceback; print('worker said', repr(traceback.format_exc()))"),
    "repr-list": caught("import traceback; print('failed:', traceback.format_exception(error))"),
    "json-nested": caught(
        "import json, traceback; print('ERROR job', json.dumps({'job': 7, 'error': "
        "{'trace': traceback.format_exc()}}))"
    ),
    "json-twice": caught(
        "import json, traceback; print(json.dumps({'line': json.dumps({'exc': "
        "traceback.format_exc()})}))"
    ),
    "sentry": SENTRY + caught("sentry_sdk.capture_exception(error)"),
    "cpython-group-nested": PLAIN
    + "def fail(job):\n    try:\n        job()\n    except Exception as e:\n        return e\n\n"
    + "inner = ExceptionGroup('inner', [fail(lambda: {}['k']), fail(main)])\n"
    + "raise ExceptionGroup('outer', [fail(lambda: int('x')), inner])\n",
    "log-between-frames": caught(
        "import traceback\n    for n, line in enumerate(traceback.format_exc().splitlines()):\n"
        "        print(line)\n        if n % 3 == 2:\n            print(f'WARNING:root:step {n} took 3.2s')"
    ),
    "logging-stack-info": "import logging\nlogging.basicConfig()\n"
    + caught("logging.error('failed', exc_info=True, stack_info=True)"),
    "pprint": caught("import pprint, traceback; pprint.pprint({'error': traceback.format_exc()})"),
    "pprint-lines": caught(
        "import pprint, traceback; pprint.pprint(traceback.format_exc().splitlines())"
    ),
    "frame-summaries": caught(
        "import traceback; print(traceback.extract_tb(error.__traceback__)); print(repr(error))"
    ),
    "json-frames": caught(
        "import json, traceback\n    print(json.dumps([{'file': f.filename, 'line': f.lineno, "
        "'function': f.name, 'code': f.line} for f in traceback.extract_tb(error.__traceback__)]))\n"
        "    print(repr(error))"
    ),
    "json-among-lines": caught(
        "import json, traceback\n    print('step 3')\n    print(json.dumps({'job': 7, 'failures': "
        "[{'trace': traceback.format_exc()}]}, indent=2))\n    print('bye')"
    ),
    "pretty-errors-line-first": "import pretty_errors\npretty_errors.configure(filename_display="
    + "pretty_errors.FILENAME_FULL, line_number_first=True, line_length=120)\npretty_errors.activate()\n"
    + PLAIN
    + "main()\n",
    "pretty-errors-mono": "import pretty_errors\npretty_errors.mono()\npretty_errors.activate()\n"
    + PLAIN
    + "main()\n",
    "rich-40": "from rich.traceback import install\nfrom rich.console import Console\n"
    + "install(console=Console(width=40, stderr=True))\n"
    + PLAIN
    + "main()\n",
    "rich-ascii": "import sys\nsys.stderr.reconfigure(encoding='ascii', errors='backslashreplace')\n"
    + "from rich.traceback import install\ninstall(width=90, show_locals=True)\n"
    + PLAIN
    + "main()\n",
    "rich-group": "from rich.traceback import install\nfrom rich.console import Console\n"
    + "install(console=Console(width=90, stderr=True))\n"
    + PLAIN
    + "def fail(job):\n    try:\n        job()\n    except Exception as e:\n        return e\n\n"
    + "raise ExceptionGroup('jobs', [fail(lambda: int('x')), fail(main)])\n",
    "rich-logging-folded": "import logging\nfrom rich.logging import RichHandler\n"
    + "from rich.console import Console\nlogging.basicConfig(format='%(message)s', "
    + "handlers=[RichHandler(console=Console(width=100))])\n"
    + caught("logging.exception('failed')"),
    "sentry-chained": SENTRY
    + PLAIN
    + "try:\n    try:\n        main()\n    except RuntimeError as e:\n        raise ValueError('epoch 3') from e\n"
    + "except Exception as error:\n    sentry_sdk.capture_exception(error)\n",
    "sentry-group": SENTRY
    + PLAIN
    + "def fail(job):\n    try:\n        job()\n    except Exception as e:\n        return e\n\n"
    + "try:\n    raise ExceptionGroup('jobs', [fail(lambda: int('x')), fail(main)])\n"
    + "except Exception as error:\n    sentry_sdk.capture_exception(error)\n",
    "structlog-dict-chained": "import structlog\nstructlog.configure(processors=["
    + "structlog.processors.dict_tracebacks, structlog.processors.JSONRenderer(indent=1)])\n"
    + "log = structlog.get_logger()\n"
    + PLAIN
    + "try:\n    try:\n        {}['x']\n    except KeyError:\n        main()\n"
    + "except Exception:\n    log.exception('failed')\n",
    "ipython-plain-color": "from IPython.core.ultratb import FormattedTB\nimport sys\n"
    + caught("print(FormattedTB(mode='Plain', theme_name='linux').text(*sys.exc_info()))"),
}

TEST = PLAIN + "def test_epoch():\n    main()\n"
#: Forms of pytest, by its options.
PYTESTS = {
    "pytest-long": ["--tb=long"],
    "pytest-auto": [],
    "pytest-short": ["--tb=short"],
    "pytest-native": ["--tb=native"],
    "pytest-line": ["--tb=line"],
    "pytest-locals": ["--tb=long", "-l"],
    "pytest-color": ["--tb=auto", "--color=yes"],
    "pytest-junit": ["--tb=long", "--junitxml=report.xml"],
}


def main(names: list[str]) -> None:
    root, site = Path(HOME), Path(SITE)
    if root.exists() or site.exists():
        raise SystemExit(f"{root} or {site} is there already")
    try:
        for path, text in PROJECT.items():
            file = site / path.removeprefix("site-packages/") if "/" in path else root / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        FORMS.mkdir(exist_ok=True)
        for name, program in PROGRAMS.items():
            if not names or name in names:
                (root / "train.py").write_text(program.replace("{nocolor}", _plain_ipython()))
                _save(name, _run(root, ["train.py"]))
        for name, options in PYTESTS.items():
            if not names or name in names:
                (root / "test_train.py").write_text(TEST)
                quiet = ["-m", "pytest", "-q", "-p", "no:cacheprovider", *options, "test_train.py"]
                text = _run(root, quiet)
                report = root / "report.xml"
                _save(name, report.read_text() if report.exists() else text)
                report.unlink(missing_ok=True)
        if not names or "notebook" in names:
            _save("notebook", _notebook(root))
    finally:
        shutil.rmtree(root, ignore_errors=True)
        shutil.rmtree(site, ignore_errors=True)


def _plain_ipython() -> str:
    import inspect

    from IPython.core.ultratb import FormattedTB

    takes = inspect.signature(FormattedTB.__init__).parameters
    return "theme_name='nocolor'" if "theme_name" in takes else "color_scheme='NoColor'"


def _environment(root: Path) -> dict[str, str]:
    path = os.pathsep.join([str(root), SITE])
    return {**os.environ, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1", "COLUMNS": "100",
            "FORCE_COLOR": "", "TERM": "xterm"}  # fmt: skip


def _run(root: Path, arguments: list[str]) -> str:
    done = subprocess.run(
        [sys.executable, *arguments], cwd=root, env=_environment(root), text=True, timeout=120,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    return done.stdout


def _notebook(root: Path) -> str:
    import nbformat
    from nbclient import NotebookClient

    os.environ.update(_environment(root))
    book = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell(PLAIN), nbformat.v4.new_code_cell("print('go')\nmain()")]
    )
    NotebookClient(book, allow_errors=True, resources={"metadata": {"path": str(root)}}).execute()
    return nbformat.writes(book)


def _save(name: str, text: str) -> None:
    text = re.sub(re.escape(sys.prefix) + r"/lib/python3\.\d+/site-packages", SITE, text)
    text = re.sub(re.escape(sys.base_prefix) + r"/lib/python3\.\d+", "/usr/lib/python3.11", text)
    text = text.replace(sys.prefix, "/opt/conda/envs/train").replace(sys.base_prefix, "/usr")
    (FORMS / f"{name}.txt").write_text(text)
    print(f"{name:24} {len(text.splitlines())} lines")


if __name__ == "__main__":
    main(sys.argv[1:])
