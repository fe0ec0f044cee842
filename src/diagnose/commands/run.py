"""``diagnose run SCRIPT``: on this machine or on simulated GPUs, explained where it fails, verified where
asked."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Literal, NoReturn

import click

from diagnose.casebase.store import load
from diagnose.commands import verification
from diagnose.commands.programs import Started, is_launcher, script_file, started, without_python
from diagnose.commands.remember import edited, offer
from diagnose.commands.shared import LANG, NO_SOURCE, SOURCE
from diagnose.commands.shared import output as output_option
from diagnose.model import Lang
from diagnose.sources import per_report
from diagnose.verification.program import program

Wording = Literal["new", "old"]
#: What an option is given by ``--option`` alone, where ``--option=VALUE`` gives it another.
_BARE = {"--simulate": "auto", "--verify": ""}
#: Simulated GPUs, where nothing says how many.
_GPUS = 2


class _Runner(click.Command):
    """Options stand before SCRIPT; some take a value with an equals sign or none."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Gives those options their values; what follows SCRIPT belongs to the script."""
        with_value = {
            name
            for param in self.params
            if isinstance(param, click.Option) and not param.is_flag
            for name in param.opts
        } - set(_BARE)
        own: list[str] = []
        rest = list(args)
        while rest and rest[0].startswith("-") and rest[0] not in ("-", "--"):
            word = rest.pop(0)
            own.append(f"{word}={_BARE[word]}" if word in _BARE else word)
            if word in with_value and rest:
                own.append(rest.pop(0))
        return super().parse_args(ctx, [*own, *rest])


def _gpus(ctx: click.Context, param: click.Parameter, value: str | None) -> int | None:
    """How many GPUs are simulated: None for none of them, -1 for as many as it takes."""
    if value is None or value == "auto":
        return None if value is None else -1
    most = verification.MOST_GPUS
    if value.isdecimal() and int(value) <= most:
        return int(value)
    raise click.BadParameter(f"{value} is not a number from 0 to {most}")


@click.command(
    "run",
    cls=_Runner,
    options_metavar="[OPTIONS]",
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
)
@click.option(
    "--simulate",
    callback=_gpus,
    metavar="[=N]",
    help="Run on N simulated GPUs, with CUDA's device checks and messages: no GPU needed. 2 by default.",
)
@click.option(
    "--verify",
    metavar="[=REPORT|ID]",
    shell_complete=verification.completed,
    help="Check placement while it runs, and say PASS or FAIL: all checks, or what a REPORT (a file) or "
    "ID (a cause or incident) is about. Without SCRIPT the cause's own example runs.",
)
@click.option(
    "--audit", is_flag=True, help="Report misplaced tensors that raise no error (docs/tracing.md)."
)
@click.option(
    "--trace/--no-trace",
    default=None,
    help="Record where each tensor is created and moved. On with --simulate, --verify and --audit.",
)
@click.option("-m", "module", is_flag=True, help="SCRIPT is a module, as for python -m.")
@click.option(
    "--steps",
    type=click.IntRange(1),
    metavar="N",
    help="With --verify: stop SCRIPT after N steps of its optimizer.",
)
@click.option(
    "--wording",
    type=click.Choice(["new", "old"]),
    default="new",
    show_default=True,
    help="Messages of simulated GPUs: new since torch 2.8, old up to 2.7.",
)
@output_option(
    "Write the answer to a failure, as JSON, to FILE (with --simulate or --audit).", "--report"
)
@SOURCE
@NO_SOURCE
@LANG
@click.argument("script", required=False, metavar="[SCRIPT]")
@click.argument("args", nargs=-1, type=click.UNPROCESSED)
def run_command(
    simulate: int | None,
    verify: str | None,
    audit: bool,
    trace: bool | None,
    module: bool,
    steps: int | None,
    wording: Wording,
    output: Path | None,
    source: tuple[str, ...],
    no_source: bool,
    lang: Lang,
    script: str | None,
    args: tuple[str, ...],
) -> None:
    """Run SCRIPT; where it dies of a device-placement error, the diagnosis follows.

    It runs as `python SCRIPT ARGS...` would run it, with the same output and exit status; `torchrun` and
    other launchers may stand before it. Python processes that it starts are diagnosed too.

    \b
      diagnose run train.py --epochs 3
      diagnose run --simulate=4 train.py               4 simulated GPUs
      diagnose run --verify=train.log train.py         is what train.log shows fixed?
      diagnose run torchrun --nproc-per-node 2 train.py

    Exit status: the script's own; with --verify 0 PASS, 1 FAIL, 2 not run.
    """
    if steps and verify is None:
        raise click.UsageError("--steps is for --verify")
    if verify is not None:
        words = started(script, args, module) if script is not None else None
        if words is not None and words.launcher:
            raise click.UsageError(
                "--verify stands behind a launcher: torchrun -m diagnose run --verify"
            )
        casebase = load()
        meant = verification.meant(verify, casebase, per_report(source, off=no_source)())
        counted = None if simulate is None else (meant.gpus if simulate < 0 else simulate)
        status = verification.run(
            program(*meant, casebase),
            [*(["--steps", str(steps)] if steps else []), *_words(words)],
            None if counted is None else (counted, wording),
            recorded=trace is not False and words is not None,
        )
        if status == 0 and words is not None:
            _offer(verify, meant, lang)
        sys.exit(status)
    script = script or ""
    if simulate is None and not audit:
        if output is not None:
            raise click.UsageError("--output is for --simulate or --audit")
        _as_python(script, args, module=module, lang=lang, trace=bool(trace))
    gpus = None if simulate is None else (_GPUS if simulate < 0 else simulate)
    _in_process(
        started(script, args, module), gpus, wording, audit, trace is not False, output, lang
    )


def _offer(verify: str, meant: verification.Meant, lang: Lang) -> None:
    """Says how what fixed a report that is a file is remembered, with what git knows of the edit."""
    if Path(verify).is_file():
        culprit = meant.culprit.file if meant.culprit is not None else ""
        offer(edited(Path(culprit)), verify, lang)


def _words(words: Started | None) -> list[str]:
    """A script that is there or a module, and its arguments."""
    if words is None:
        return []
    named = ["-m", words.script] if words.module else [str(script_file(Path(words.script)))]
    return [*named, *words.args]


def _as_python(
    script: str, args: tuple[str, ...], *, module: bool, lang: Lang, trace: bool
) -> NoReturn:
    """Becomes the program, with the hook."""
    from diagnose.hooks.command import run

    launcher = shutil.which(script) if is_launcher(script) and not module else None
    if launcher is None:
        script, args, module, *_ = without_python(script, args, module)
    program = [*(["-m"] if module else []), *([] if launcher else [script]), *args]
    run(program, launcher=launcher, lang=lang, trace=trace)


def _in_process(
    words: Started,
    gpus: int | None,
    wording: Wording,
    audit: bool,
    trace: bool,
    output: Path | None,
    lang: Lang,
) -> NoReturn:
    """Runs a script in this process, or several that a launcher starts, on simulated GPUs or not."""
    from diagnose import tracing
    from diagnose.hooks.answers import explained
    from diagnose.model import Diagnosis, Report
    from diagnose.outputs import write
    from diagnose.simulation import TorchMissingError, run_script

    if words.launcher:
        if output is not None:
            raise click.UsageError("--output is for one process, without a launcher")
        _launch(words, gpus, wording, audit, trace, lang)
    if not words.module:
        script_file(Path(words.script))
    told: list[Diagnosis] = []
    try:
        status = run_script(
            words.script,
            list(words.args),
            gpus=gpus,
            wording=wording,
            beside=_audited if audit else tracing.trace if trace else nullcontext,
            failed=lambda error: told.extend(explained(error, lang)),
            module=words.module,
        )
    except (TorchMissingError, FileNotFoundError) as error:
        raise click.UsageError(str(error)) from error
    if output is not None:
        from diagnose.rendering.json_full import render

        answer = told[0] if told else Diagnosis(Report(words.script), "no-error")
        write(render(answer) + "\n", output)
    sys.exit(status)


def _launch(
    words: Started, gpus: int | None, wording: Wording, audit: bool, trace: bool, lang: Lang
) -> NoReturn:
    """Becomes torchrun, whose processes run the script as this command would."""
    from diagnose.hooks.command import run

    options = [f"--wording={wording}", f"--lang={lang}", "--trace" if trace else "--no-trace"]
    options += [f"--simulate={gpus}"] if gpus is not None else []
    options += [*(["--audit"] if audit else []), *(["-m"] if words.module else [])]
    child = ["-m", "diagnose", "run", *options, words.script]
    kept = [word for word in words.launcher if word not in ("-m", "--module")]
    own = ["-m", "torch.distributed.run", *kept, "--no-python"]
    run([*own, sys.executable, *child, *words.args], lang=lang)


@contextmanager
def _audited() -> Iterator[None]:
    """A recorded run; misplaced tensors that raised no error are reported at its end."""
    from diagnose import tracing
    from diagnose.rendering.audit import lines
    from diagnose.tracing.auditing import Audit

    with tracing.trace() as recorder, Audit(recorder) as audit:
        yield
    found = list(lines(audit.findings()))
    for line in found or ["diagnose: no misplaced tensors found"]:
        print(line, file=sys.stderr)
