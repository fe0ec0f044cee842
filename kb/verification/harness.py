"""<what this program verifies>"""

from __future__ import annotations

import ast
import gc
import getopt
import inspect
import linecache
import os
import re
import runpy
import sys
import threading
import traceback
import weakref
from collections import Counter
from collections.abc import Mapping
from contextlib import contextmanager
from pathlib import Path

try:
    import torch
except ImportError as error:
    print(f"NOT RUN: torch cannot be imported here ({error})")
    sys.exit(2)
from torch import nn
from torch.optim import optimizer as optimizers

# <constants>
CAUSE = ""
GPUS = 1
DEVICES = ()
OPERATION = None
ARGUMENT = None
CULPRIT = None
# </constants>


# <example>
def mistake(devices):
    raise NotImplementedError


def fixed(devices):
    raise NotImplementedError


# </example>


# <checks>
CHECKS = ()
# </checks>


# --- watching a run -----------------------------------------------------------------------------


class Enough(BaseException):
    """The steps asked for are done; not an Exception, so that scripts do not swallow it."""


class Watch:
    """What was seen of a run. The hooks fill it, the checks read it and say what is misplaced."""

    def __init__(self, limit=None):
        self.limit = limit  # stop after so many steps
        self.found = []  # the checks' sentences
        self.root = None  # the model whose forward pass has just ended, or failed
        self.calls = []  # of a failed pass: (module, its tensors by name), outermost first
        self.error = None  # the device error
        self.frames = []  # its (frame, line) pairs, outermost first
        self.ran = set()  # ids of the modules that ran to their end
        self.passes = Counter()  # forward passes by id of the model
        self.models = {}  # models that ran, by id
        self.optimizer = None  # the optimizer that is stepping
        self.steps = 0  # optimizer steps that ran to their end
        self.loaded = {}  # what torch.load returned: numbers of tensors by device, by file
        self._thread = threading.local()

    @contextmanager
    def hooks(self):
        """Watches everything that torch does within the block."""
        load = torch.load

        def watched_load(file, *args, **kwargs):
            result = load(file, *args, **kwargs)
            name = Path(file).name if isinstance(file, (str, os.PathLike)) else "a stream"
            self.loaded[name] = Counter(str(t.device) for _, t in tensors_in(result, name))
            return result

        handles = [
            nn.modules.module.register_module_forward_pre_hook(self._before),
            nn.modules.module.register_module_forward_hook(self._after),
            optimizers.register_optimizer_step_pre_hook(self._before_step),
            optimizers.register_optimizer_step_post_hook(self._after_step),
        ]
        torch.load = watched_load
        try:
            yield self
        finally:
            torch.load = load
            for handle in handles:
                handle.remove()

    def _before(self, module, args):
        if torch.compiler.is_compiling():
            return
        running = self._thread.__dict__.setdefault("running", [])
        if running and running[0] is module:  # its last pass failed and was tried again
            running.clear()
        running.append(module)

    def _after(self, module, args, output):
        if torch.compiler.is_compiling():
            return
        self.ran.add(id(module))
        running = self._thread.__dict__.get("running", [])
        while running and running.pop() is not module:
            pass  # inner modules whose failure was caught
        if running or getattr(module, "_is_replica", False):
            return
        self.passes[id(module)] += 1
        if self.passes[id(module)] == 1:
            self.models[id(module)] = weakref.ref(module)
            self.root = module
            self.judge()
            self.root = None
        if self.limit and self.passes[id(module)] >= self.limit and not makes_optimizers():
            raise Enough

    def _before_step(self, optimizer, args, kwargs):
        self.optimizer = optimizer

    def _after_step(self, optimizer, args, kwargs):
        self.steps += 1
        if self.steps == 1:
            self.judge()
        self.optimizer = None
        if self.limit and self.steps >= self.limit:
            raise Enough

    def fail(self, error):
        """Looks at a device error: where it happened, and which modules were running."""
        self.error = error
        self.frames = list(traceback.walk_tb(error.__traceback__))
        for frame, _ in self.frames:
            seen = frame.f_locals
            if frame.f_code.co_name == "_call_impl" and isinstance(seen.get("self"), nn.Module):
                named = named_inputs(seen["self"], seen.get("args", ()), seen.get("kwargs", {}))
                self.calls.append((seen["self"], named))
        self.root = self.calls[0][0] if self.calls else None
        self.judge()

    def judge(self):
        """Lets every check speak."""
        for check in CHECKS:
            try:
                self.found += [text for text in check(self) if text not in self.found]
            except Exception as error:  # an odd module must not stop the user's run
                print(f"note: {check.__name__} could not look: {type(error).__name__}: {error}")

    def complete(self):
        """Whether one whole step was seen: an optimizer's, or a pass where nothing is trained."""
        return bool(self.steps or (self.passes and not makes_optimizers()))

    def seen(self):
        """What was seen, in words."""
        if not self.passes:
            return "no forward pass of a module was seen in this process"
        passes = max(self.passes.values())
        return f"{self.steps} optimizer steps, {passes} forward passes of one model"


def makes_optimizers():
    return any(issubclass(type(thing), torch.optim.Optimizer) for thing in gc.get_objects())


# --- what the checks share ----------------------------------------------------------------------


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


def named_inputs(module, args, kwargs):
    """The tensors that a module was called with, by the names of its forward's parameters."""
    try:
        given = inspect.signature(module.forward).bind_partial(*args, **kwargs).arguments
    except (TypeError, ValueError):
        given = {"args": args, **kwargs}
    return {name: t for key, value in given.items() for name, t in tensors_in(value, key)}


def placed(module):
    """The parameters and buffers of a module by name; ZeRO's empty ones have no place."""
    named = [*module.named_parameters(), *module.named_buffers()]
    return {name: tensor for name, tensor in named if tensor.numel()}


def by_device(named):
    """Names by device; the device that holds most comes first, GPUs before the cpu."""
    groups = {}
    for name, tensor in named.items():
        groups.setdefault(str(tensor.device), []).append(name)
    return dict(sorted(groups.items(), key=lambda group: (-len(group[1]), group[0] == "cpu")))


def listed(names, limit=4):
    """A few of the names, and how many more."""
    names = list(names)
    more = f" and {len(names) - limit} more" if len(names) > limit else ""
    verb = "is" if len(names) == 1 else "are"
    return ", ".join(names[:limit]) + more + " " + verb


def failing_lines(watch):
    """Frames outside torch, innermost first, with the expressions on their lines that have a place:
    (frame, line, {expression: tensor, module or generator}, [syntax nodes])."""
    ours = os.path.dirname(torch.__file__) + os.sep
    for frame, line in reversed(watch.frames):
        if frame.f_code.co_filename.startswith(ours):
            continue
        nodes = statement_at(frame.f_code.co_filename, line)
        named = {}
        for node in nodes:
            name_placed(node, frame, named)
        yield frame, line, named, nodes


def statement_at(file, line):
    """The syntax nodes of the statement at a line; of a compound statement only its head."""
    try:
        tree = ast.parse("".join(linecache.getlines(file)))
    except SyntaxError:
        return []
    around = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.stmt) and node.lineno <= line <= node.end_lineno
    ]
    if not around:
        return []
    children = ast.iter_child_nodes(max(around, key=lambda node: (node.lineno, node.col_offset)))
    return [child for child in children if not isinstance(child, (ast.stmt, ast.ExceptHandler))]


def name_placed(node, frame, named):
    """Notes the longest expressions in a node that stand for a tensor, module or generator."""
    if isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)):
        value = look_up(node, frame)
        if isinstance(value, (torch.Tensor, torch.Generator, nn.Module)):
            if ast.unparse(node) != "self":
                named[ast.unparse(node)] = value
            return
    for child in ast.iter_child_nodes(node):
        name_placed(child, frame, named)


def look_up(node, frame):
    """The value of a name, attribute or item in a frame; None for what would have to be computed."""
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.Name):
        return frame.f_locals.get(node.id, frame.f_globals.get(node.id))
    if isinstance(node, ast.Attribute):
        return getattr(look_up(node.value, frame), node.attr, None)
    if isinstance(node, ast.Subscript):
        holder, key = look_up(node.value, frame), look_up(node.slice, frame)
        if isinstance(holder, (list, tuple, Mapping)) and isinstance(key, (str, int)):
            try:
                return holder[key]
            except (LookupError, TypeError):
                return None
    return None


def place_of(value):
    """The device of a tensor or generator, the devices of a module, in words."""
    if isinstance(value, nn.Module):
        return " and ".join(by_device(placed(value))) or "no device"
    return str(value.device)


# --- the verdict --------------------------------------------------------------------------------


def is_device_error(error):
    """Whether an error is about where tensors are, rather than about memory or a crashed kernel."""
    text = str(error)
    other = r"out of memory|device-side assert|illegal memory|CUBLAS|CUDNN|NCCL|No CUDA GPUs"
    return bool(
        isinstance(error, Exception)
        and re.search(r"(?i)\b(cuda|cpu|gpu|meta|device)s?\b|\.cuda\b", text)
        and not re.search(other, text)
    )


def where(watch):
    """The failing line with the places of what stands on it, and whether it is the report's."""
    lines = [entry for entry in failing_lines(watch) if entry[2]] or list(failing_lines(watch))
    if not lines:
        return "no line of Python code shows"
    frame, line, named, _ = lines[0]
    code = frame.f_code
    places = ", ".join(f"{name} on {place_of(value)}" for name, value in named.items())
    text = f"{Path(code.co_filename).name}:{line}, in {code.co_name}{places and ': '}{places}"
    if CULPRIT is None:
        return text
    spots = [(Path(f.f_code.co_filename).name, number) for f, number in watch.frames]
    if CULPRIT in spots:
        return f"{text} (the trace passes the line of the report, {CULPRIT[0]}:{CULPRIT[1]})"
    return f"{text} (another line than the report's, {CULPRIT[0]}:{CULPRIT[1]})"


def self_test(watch):
    """Runs the example: the device check must refuse the mistake and let the repair pass."""
    devices = [torch.device("cuda", index) for index in range(GPUS)]
    watch.judge()
    if watch.found:
        return False, "; ".join(watch.found)
    try:
        with watch.hooks():
            mistake(devices)
    except Exception as error:
        if not is_device_error(error):
            return False, f"the mistake failed of something else: {type(error).__name__}: {error}"
        print(f"mistake(): {type(error).__name__}: {str(error).strip().splitlines()[0]}")
        traceback.TracebackException.from_exception(error)
        watch.fail(error)
        print("\n".join(["", *watch.found, where(watch)]).replace("\n", "\n  found: ").strip("\n"))
    else:
        return False, "the mistake ran: nothing here tells it from its repair"
    try:
        fixed(devices)
        torch.cuda.synchronize()
    except Exception as error:
        return False, f"the repair failed too: {type(error).__name__}: {error}"
    return True, "the mistake is refused, its repair runs"


def verify_script(watch, script, args, as_module):
    """Runs the user's script as `python` would, watched."""
    sys.argv = [script, *args]
    sys.path[0] = os.getcwd() if as_module else str(Path(script).resolve().parent)
    ending = "the script ran to its end"
    try:
        with watch.hooks():
            watch.judge()
            if as_module:
                runpy.run_module(script, run_name="__main__", alter_sys=True)
            else:
                runpy.run_path(script, run_name="__main__")
    except Enough:
        ending = "stopped as asked"
    except KeyboardInterrupt:
        ending = "interrupted"
        if not watch.complete():
            return False, f"interrupted before a step was complete ({watch.seen()})"
    except SystemExit as end:
        if end.code not in (None, 0):
            return False, f"the script ended with exit status {end.code} ({watch.seen()})"
    except BaseException as error:
        traceback.print_exception(type(error), error, error.__traceback__)
        if not is_device_error(error):
            name = type(error).__name__
            return False, f"{name} ended the script; that is no device error ({watch.seen()})"
        watch.fail(error)
        return False, "; ".join([*watch.found, f"failed at {where(watch)}"])
    if watch.found:
        return False, f"{ending}, but {'; '.join(watch.found)}"
    return True, f"{ending} without a device error ({watch.seen()})"


def main(argv):
    try:
        options, rest = getopt.getopt(argv, "hm", ["help", "steps=", "gpus="])
        options = dict(options)
        limit = int(options.get("--steps", 0))
        split = {device for device in DEVICES if device.startswith("cuda:")}
        needed = int(options.get("--gpus", max(GPUS, len(split)))) if rest else GPUS
    except (getopt.GetoptError, ValueError) as error:
        print(f"NOT RUN: {error} (see --help)")
        return 2
    if "-h" in options or "--help" in options:
        print(__doc__)
        return 0
    visible = torch.cuda.device_count()
    print(f"{CAUSE}: needs {needed} GPU{'s' * (needed != 1)}, {visible} visible")
    for check in CHECKS:
        print(f"  checks that {check.__doc__}")
    print("  checks that no operation is refused for its devices", flush=True)
    if visible < max(needed, 1):
        print(f"NOT RUN: too few GPUs: {needed} needed, {visible} visible")
        return 2
    if rest and "-m" not in options and not Path(rest[0]).is_file():
        print(f"NOT RUN: no such script: {rest[0]}")
        return 2
    watch = Watch(limit)
    out = sys.stdout
    good, why = (
        verify_script(watch, rest[0], rest[1:], "-m" in options) if rest else self_test(watch)
    )
    sys.stderr.flush()
    print(f"{'PASS' if good else 'FAIL'}: {why}", file=out, flush=True)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
