"""Runs a script and watches where its tensors are; `diagnose run --verify` starts it.

PASS, if no operation is refused for its devices and no check finds anything misplaced; Ctrl-C after
the first step is as good as the end. Without a script the cause's example runs. Exit status: 0 PASS,
1 FAIL, 2 not run (too few GPUs, no torch, no such script). Needs torch 2.1 or later and nothing else.
"""

from __future__ import annotations

import getopt
import linecache
import re
import runpy
import sys
import threading
import traceback
import weakref
from collections import Counter
from collections.abc import Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

try:
    import torch
except ImportError as error:
    print(f"NOT RUN: torch cannot be imported here: {error}")
    sys.exit(2)
from torch.nn.modules import module as modules
from torch.optim import optimizer as optimizers

# <parts> of the cause take the place of these
CAUSE = ""
GPUS = 1
DEVICES = ()
OPERATION = ()
CULPRIT = ()
CHECKS = ()
WATCHERS = ()


def mistake(devices):
    raise NotImplementedError


def fixed(devices):
    raise NotImplementedError


# </parts>


class Enough(BaseException):
    """The steps asked for are done; not an Exception, so that scripts let it pass."""


class Watch:
    """What is seen of a run: the hooks fill it, the checks read it and say what is misplaced."""

    def __init__(self, steps=0, passes=0):
        self.wanted = steps, passes  # stop after so many; 0 for all
        self.steps = 0  # optimizer steps
        self.optimizer = None  # the optimizer whose step is running
        self.turns = Counter()  # steps by id of the optimizer
        self.stepped = set()  # ids of the parameters that an optimizer has stepped
        self.settled = False  # whether each optimizer has had its turn
        self.passes = Counter()  # forward passes by id of the model
        self.models = {}  # weak references by id; a model is a module that no other one called
        self.model = None  # the model whose first pass has just ended
        self.ran = set()  # ids of the modules whose forward ran to its end
        self.trains = False  # whether a pass may be the first part of a training step
        self.error = None  # the device error that ended the run
        self.found = {}  # the check that says so, by sentence
        self._thread = threading.local()

    @contextmanager
    def hooks(self):
        """Watches torch within the block, and leaves nothing behind."""
        with ExitStack() as stack:
            for handle in (
                modules.register_module_forward_pre_hook(self._before),
                modules.register_module_forward_hook(self._after),
                optimizers.register_optimizer_step_pre_hook(self._before_step),
                optimizers.register_optimizer_step_post_hook(self._after_step),
            ):
                stack.callback(handle.remove)
            for watcher in WATCHERS:
                stack.enter_context(watcher())
            yield
            self.settled = True
            self.judge()

    def _before(self, module, args):
        if torch.compiler.is_compiling():
            return
        running = vars(self._thread).setdefault("running", [])
        if running and running[0] is module:  # its last pass failed and is tried again
            running.clear()
        running.append(module)

    def _after(self, module, args, output):
        if torch.compiler.is_compiling():
            return
        self.ran.add(id(module))
        running = vars(self._thread).get("running", [])
        while running and running.pop() is not module:
            pass  # inner modules whose failure was caught
        if running or getattr(module, "_is_replica", False):
            return
        self.trains |= module.training and torch.is_grad_enabled()
        self.passes[id(module)] += 1
        if self.passes[id(module)] == 1:
            self.models[id(module)] = weakref.ref(module)
            self.model = module
            self.judge()
            self.model = None
        if self.passes[id(module)] == self.wanted[1]:
            raise Enough

    def _before_step(self, optimizer, args, kwargs):
        self.optimizer = optimizer

    def _after_step(self, optimizer, args, kwargs):
        self.steps += 1
        self.turns[id(optimizer)] += 1
        self.stepped.update(id(p) for group in optimizer.param_groups for p in group["params"])
        self.settled |= self.turns[id(optimizer)] == 2
        if self.steps == 1 or self.turns[id(optimizer)] == 2:
            self.judge()
        self.optimizer = None
        if self.steps == self.wanted[0]:
            raise Enough

    def judge(self):
        """Lets each check say what is misplaced."""
        for check in CHECKS:
            try:
                for text in check(self):
                    self.found[text] = check.__name__
            except Exception as error:  # an odd module must not end the user's run
                told = f"{check.__name__} could not look: {type(error).__name__}: {error}"
                print(f"note: {told}", file=sys.stderr)

    def seen(self):
        """How much was seen, in words."""
        passes = max(self.passes.values(), default=0)
        return f"{self.steps} optimizer steps and {passes} forward passes seen"


def is_device_error(error):
    """Whether an error says where tensors are, and not that memory or a kernel failed."""
    other = r"out of memory|device-side assert trig|illegal memory|CUBLAS_|cuDNN error|NCCL error"
    return bool(
        isinstance(error, (RuntimeError, ValueError, TypeError, AssertionError))
        and re.search(
            r"(?i)\b(is_cuda|cuda|cpu|gpu|meta|device_map|device|dtensor)s?\b", str(error)
        )
        and not re.search(other, str(error))
    )


def frames_of(error):
    """(frame, line) of each entry of the traceback outside torch, innermost first."""
    walked = reversed(list(traceback.walk_tb(error.__traceback__)))
    folder = str(Path(torch.__file__).parent)
    return [entry for entry in walked if not entry[0].f_code.co_filename.startswith(folder)]


def placed_on(frame, line):
    """What on a source line has a device, by its dotted name: tensors, modules, generators."""
    text = ""
    for number in range(line, line + 20):
        text += linecache.getline(frame.f_code.co_filename, number)
        if text.count("(") <= text.count(")"):
            break
    named = {}
    for dotted in re.findall(r"[A-Za-z_]\w*(?:\.\w+)*", text):
        while dotted not in ("", "self"):  # x.weight.T: nothing; x.weight: a tensor
            first, *rest = dotted.split(".")
            value = frame.f_locals.get(first, frame.f_globals.get(first))
            found = {}
            with suppress(Exception):  # properties may raise anything
                for attribute in rest:
                    value = getattr(value, attribute)
                found = dict(tensors_in(value, dotted, depth=2))
                if isinstance(value, (torch.nn.Module, torch.Generator)):
                    found = {dotted: value}
            if found:
                named.update(found)
                break
            dotted = dotted.rpartition(".")[0]
    return named


def tensors_in(value, name, depth=4):
    """The tensors in a value (itself, or in lists, tuples and mappings), each with its name."""
    if isinstance(value, torch.Tensor):
        yield name, value
    elif depth and isinstance(value, Mapping):
        for key, item in value.items():
            yield from tensors_in(item, f"{name}[{key!r}]", depth - 1)
    elif depth and isinstance(value, (list, tuple)):
        for position, item in enumerate(value):
            yield from tensors_in(item, f"{name}[{position}]", depth - 1)


def device_of(thing):
    """The device of a tensor or generator, the devices of a module's parameters and buffers."""
    if not isinstance(thing, torch.nn.Module):
        return str(thing.device)
    parts = [*thing.parameters(), *thing.buffers()]
    return " and ".join(sorted({str(part.device) for part in parts}))


def where(error, culprit):
    """The line that failed, whether it is the report's, and the devices of what stands on it."""
    frames = frames_of(error)
    if not frames:
        return "failed inside torch"
    frame, line = next((entry for entry in frames if placed_on(*entry)), frames[0])
    text = f"failed at {Path(frame.f_code.co_filename).name}:{line}, in {frame.f_code.co_name}"
    if culprit:
        spots = [(Path(frame.f_code.co_filename).name, line) for frame, line in frames]
        which = "the" if culprit in spots else "another line than the"
        text += f" ({which} report's {culprit[0]}:{culprit[1]})"
    placed = {name: device_of(value) for name, value in placed_on(frame, line).items()}
    places = ", ".join([f"{name} on {device}" for name, device in placed.items() if device][:8])
    return f"{text}{places and ': '}{places}"


def verdict(watch, action, culprit=(), quiet=False):
    """Runs the action, watched. Returns whether everything was where it must be, and why."""
    ending = "ran to its end"
    try:
        with watch.hooks():
            watch.judge()
            action()
    except (Enough, KeyboardInterrupt):
        ending = "stopped"
        if not watch.steps and (watch.trains or not watch.passes):
            return False, f"stopped before a whole step was seen: {watch.seen()}"
    except SystemExit as end:
        if end.code:
            return False, f"ended with exit status {end.code}; {watch.seen()}"
    except BaseException as error:
        lines = traceback.format_exception(type(error), error, error.__traceback__)
        if not quiet:
            print("".join(lines), file=sys.stderr)
        if not is_device_error(error):
            return False, f"ended by {type(error).__name__}, no device error; {watch.seen()}"
        watch.error = error
        watch.judge()
        ending = where(error, culprit)
    found = list(watch.found)
    for text in found[1:12]:
        print(f"  also: {text}")
    if found or watch.error:
        return False, "; ".join([*found[:1], ending])
    return True, f"{ending} without a device error; {watch.seen()}"


def self_test():
    """The example of the cause: its mistake must be refused here, its repair must run."""
    devices = [torch.device("cuda", index) for index in range(GPUS)]
    watch = Watch()
    _, why = verdict(watch, lambda: mistake(devices), quiet=True)
    if watch.error is None:
        return False, f"the mistake was not refused: {why}"
    print(f"the mistake: {str(watch.error).strip().splitlines()[0]}\n  {why}")
    good, why = verdict(Watch(), lambda: (fixed(devices), torch.cuda.synchronize()), quiet=True)
    return good, "the mistake is refused, its repair runs" if good else f"the repair: {why}"


def run_script(script, args, as_module):
    """Runs the script in this process as `python` would."""
    sys.argv = [script, *args]
    sys.path[0] = str(Path.cwd() if as_module else Path(script).resolve().parent)
    if as_module:
        runpy.run_module(script, run_name="__main__", alter_sys=True)
    else:
        runpy.run_path(script, run_name="__main__")


def main(argv):
    try:
        given, rest = getopt.getopt(argv, "m", ["steps=", "passes=", "gpus="])
        options = dict(given)
        limits = int(options.get("--steps", 0)), int(options.get("--passes", 0))
        in_report = len({device for device in DEVICES if device.startswith("cuda:")})
        needed = int(options.get("--gpus", max(GPUS, in_report))) if rest else GPUS
    except (getopt.GetoptError, ValueError) as error:
        print(f"NOT RUN: {error}")
        return 2
    visible = torch.cuda.device_count()
    print(f"{CAUSE}: needs {needed} GPU(s), {visible} visible")
    if DEVICES:
        print("  the report:", " and ".join(DEVICES), *(f"in {name}" for name in OPERATION[:1]))
    for promise in [check.__doc__ for check in CHECKS] + ["no device check fails"]:
        print(f"  checks that {promise}", flush=True)
    if visible < max(needed, 1):
        print(f"NOT RUN: too few GPUs: needs {needed}, {visible} visible")
        return 2
    if rest and "-m" not in options and not Path(rest[0]).is_file():
        print(f"NOT RUN: no such script: {rest[0]}")
        return 2
    out = sys.stdout  # the script may replace it
    if rest:
        watch, as_module = Watch(*limits), "-m" in options
        good, why = verdict(watch, lambda: run_script(rest[0], rest[1:], as_module), CULPRIT)
    else:
        good, why = self_test()
    print(f"{'PASS' if good else 'FAIL'}: {why}", file=out, flush=True)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
