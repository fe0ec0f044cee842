"""A whole kb/ as small as one can be: two of each thing, no mistake."""

from __future__ import annotations

from pathlib import Path

from diagnose.naming.origins import VALUES

FILES = {
    "words.toml": """\
batch = ['x', 'inputs?']
constants = ['mean']
plain-attributes = ['shape']
heads = ['head']
first-layers = ['conv1']
tables = ['pe']
second-models = ['teacher']
loop-names = ['layer']
no-tensors = ['config']
results = ['logits']
options = ['args']
lone-numbers = ['scale']
files = ['path']
labels = ['y']
denials = ['without']
attempts = ['no luck']
advice = ['consider']
advice-headings = ['^Tips$']
cause-headings = ['^Cause$']
fix-headings = ['^Fix$']
reasons = ['because']
fixed = ['fixed by']
without-cuda = ['npu']
furniture = ['^Reply$']
furniture-headings = ['^Related$']
homonyms = ['accelerate']
software = ['project']
platform = ['torch']
""",
    "aten.toml": """\
operations = ["relu"]
joins = ["hstack"]
several-results = ["chunk"]
losses = ["l1_loss"]
reductions = ["sum"]
""",
    "effects.toml": """\
[[effect]]
names = ["torch.load"]
does = "loaded"

[[effect]]
names = ["*.Accelerator"]
guess = true
does = "accelerator"
""",
    "torch.toml": """\
functions = [
  { names = ["mm", "bmm"], takes = ["input", "mat2"] },
  { names = ["embedding"], takes = ["index", "weight"] },
]
first-factors = ["input"]
second-factors = ["mat2"]
size-operands = ["dim"]
number-keywords = ["alpha"]
sized-factories = ["zeros"]
other-factories = ["Tensor"]
host-factories = ["Tensor"]
elementwise = ["add"]
joins = ["cat", "stack"]
same-device = ["view"]
same-device-results = ["relu"]
of-tensors = ["view"]
shaping = ["view"]
dimensioning = ["view"]
refusing = ["outer"]
bringing = ["ctc_loss"]
scalar-keywords = ["alpha"]
widening = ["diag"]
moves = ["to"]
numbers = ["len"]
no-tensor-results = ["size"]
of-arrays = ["mean"]
torch = ["torch"]
of-torch = ["torch", "torch.nn.functional"]
numpy = ["np"]
packages = ["torch", "np"]
accelerators = ["cuda"]
weightless-layers = ["ReLU"]
model-libraries = ["peft"]
other-frameworks = ["tf"]
other-framework-prefixes = ["TF"]
host-results = ["item"]
tensor-results = ["cat"]
indexing = ["gather"]
several-results = ["split"]
reductions = ["mean"]
in-a-row = ["arange"]
filled = ["zeros"]
losses = ["mse_loss"]
computing = ["mean"]
taking-any = ["copy_"]
tensor-numbers = ["size"]
tensor-attributes = ["T"]
module-classes = ["Module"]
module-containers = ["Sequential"]
module-methods = ["eval"]
module-attributes = ["forward"]
other-module-methods = ["freeze"]
growing = ["add_adapter"]
running = ["forward"]
running-prefixes = ["get_"]
module-settings = ["config"]
layer-names = ["encoder"]
early-optimizers = ["Adagrad"]
late-optimizers = ["Adam"]
weightless-prefixes = ["Dropout"]
weightless-suffixes = ["Loss"]
weighted-layers = ["AdaptiveLogSoftmaxWithLoss"]
module-suffixes = ["Model"]
model-prefixes = ["Bert"]
module-results = ["eval"]
number-suffixes = ["_size"]
setup-methods = ["build"]
function-libraries = ["torch"]
replicating-libraries = ["torch"]
gpu-libraries = ["torch"]
drawing-methods = ["normal_"]
floating-factories = ["rand"]
integral-factories = ["randint"]
floating-methods = ["float"]
integral-methods = ["long"]
floating-types = ["float"]
integral-types = ["int"]
generation-arguments = ["logits_processor"]
host-packages = ["np"]
other-packages = ["math"]
model-loaders = ["from_pretrained"]
checkpoint-loaders = ["load"]
adapter-makers = ["get_peft_model"]
datasets = ["MNIST"]
batch-methods = ["items"]
dict-methods = ["tokenize"]
step-methods = ["training_step"]
trainer-steps = ["compute_loss"]
moving-in-place = ["EMAModel"]
similarities = ["cos_sim"]
noise-tables = ["betas"]
without-to = ["SGD"]
tensor-factories = ["new_zeros"]
without-gradient = ["argmax"]
library-refusing = ["scatter"]
operations = ["add"]

[keywords]
index = ["index", "input"]

[missing]
ModuleList = ["clear"]

[distributions]
Normal = ["loc", "scale"]
""",
    "messages.toml": """\
[[wording]]
id = 'torch.same'
exception = 'RuntimeError'
component = 'torch'
versions = 'any'
says = ['elementwise']
pattern = 'found (?P<a>\\w+) and (?P<b>\\w+)'
literals = ['found ']
examples = ['found cpu and cuda']

[[wording]]
id = 'torch.meta'
exception = 'NotImplementedError'
component = 'torch'
versions = 'any'
pattern = 'no data'
literals = ['no data']
examples = ['no data']
""",
    "grammar.toml": """\
marks = ['device']
others = ['out of memory']

[words]
end = ['[.](?= |$)']
device = ['cpu', 'cuda']
name = ["'x'"]
must = ['must']
word = ['[a-z]+']

[[form]]
id = 'must-be'
patterns = ['argument=name must .. expected=device', 'must .. device']
examples = ["'x' must be on device cpu"]
""",
    "notions.toml": """\
[words]
end = ['[.]']
place = ['cpu', 'gpu']
word = ['[a-z]+']

[[form]]
id = 'place'
counts = 1.0
patterns = ['place']
examples = ["it is on the cpu"]
not = ["it is there"]
""",
    "families.toml": """\
[[rule]]
id = 'zero'
family = 'division-by-zero'
types = ['ZeroDivisionError']

[[rule]]
id = 'oom'
family = 'out-of-memory'
pattern = 'out of memory'
literals = ['out of memory']
examples = ['RuntimeError: out of memory']
""",
    "accelerator.toml": """\
[twins]
synchronize = { to = "torch.accelerator.synchronize", since = "2.6" }

[places]
keywords = ["device"]
first = ["torch.device"]
lenient = ["torch.autocast"]

[en]
title = "T"
why = "W"
tell = "L"
says = "{name} x"
left = "{name} y"
because = { host = "h", none = "n", release = "torch {since}" }

[zh]
title = "T"
why = "W"
tell = "L"
says = "{name} x"
left = "{name} y"
because = { host = "h", none = "n", release = "torch {since}" }
""",
    "device_map.toml": """\
[split]
en = "{name} is on {devices}"
zh = "{name} 在 {devices}"
""",
    "checks.toml": """\
[one]
fixes = ["move"]
safety = "unsafe"
preview = true
[one.en]
says = "{name} is lost"
because = "it moves"
[one.zh]
says = "{name} 丢了"
because = "它会移动"

[two]
fixes = ["move"]
safety = "safe"
[two.en]
says = "{name} stays"
[two.zh]
says = "{name} 留下"
""",
    "libraries.toml": """\
[[library]]
name = 'torch'
kind = 'framework'
marks = ['torch/nn']

[[library]]
name = 'peft'
distributions = ['peft']
kind = 'training'
""",
    "facts.toml": """\
[says-same]
says = 'elementwise'
en = "Two met: {devices}."
zh = "相遇：{devices}。"

[in-forward]
frame = { which = 'site', function = 'forward' }
en = "It fails in {function}."
zh = "在 {function} 中失败。"
examples = [{ frames = [['a.py', 'forward', 'y = x']], message = 'found cpu and cuda' }]
not = [{ frames = [['a.py', 'main', 'y = x']], message = 'found cpu and cuda' }]

[both]
all = ['says-same', 'in-forward']
none = ['names-batch']
en = "Both."
zh = "两者。"

[names-batch]
operand = '^@batch$'
en = "{name}"
zh = "{name}"
""",
    "beliefs.toml": "[one]\nsays-same = 2.0\nboth = -1\n\n[two]\nin-forward = 1.5\n",
    "corrections.toml": "[one]\nsays-same = 0.25\n",
    "questions.toml": """\
[where]
any = ['says-same']
code = "print({operand}.device)"
en.ask = "Where is {operand}?"
en.general = "Where is it?"
zh.ask = "{operand} 在哪里？"
zh.general = "它在哪里？"
[[where.answers]]
en = "here"
zh = "这里"
causes = { one = 0.9, two = 0.1 }
[[where.answers]]
en = "there"
zh = "那里"
""",
    "fixes.toml": '[move]\nen = "Move it."\nzh = "移动它。"\n',
    "operands.toml": '[mm]\nfirst = "input"\nmat2 = "weight"\n',
    "strays.toml": "[any]\n"
    + "".join(f"{origin} = 0.5\n" for origin in VALUES)
    + "[one]\nbatch = 1.0\n",
    "operators.toml": """\
elementwise = ["add.Tensor"]
elementwise_any_scalars = ["where.self"]
elementwise_no_scalars = []
reduction = ["sum"]
free = ["empty"]
cpu_only = ["quantized::linear_dynamic"]
[reached]
"mm" = { method = "wrapper_CUDA_mm", args = ["self", "mat2"] }

[checked]
"bmm" = { method = "wrapper_CUDA_bmm", args = ["self", "mat2"] }
""",
    "extensions.toml": """\
[[function]]
name = "scan_cuda.fwd"
parameters = ["u", "delta"]
asks = [{ of = ["u"], says = "u must be a CUDA tensor" }]
source = "https://example.org/scan.cpp"
""",
    "advice.toml": "".join(
        f'[[advice]]\nid = "{family}"\nfamily = "{family}"\n'
        'en = ["Look.", "`python {script}`", "Mend."]\nzh = ["看。", "`python {script}`", "改。"]\n\n'
        for family in ("division-by-zero", "out-of-memory", "other")
    ),
    "redaction.toml": """\
[kinds.token]
put = "[token]"
en = { one = "token", many = "tokens" }
zh = { one = "个令牌", many = "个令牌" }

[[rule]]
id = "key"
kind = "token"
pattern = 'key=(?P<secret>[a-z0-9]{20})'
keywords = ["key="]
""",
    "repairs.toml": '[runs]\nen = "{count} runs"\nzh = "{count} 次运行"\n',
    "descriptions/one.toml": "[[en]]\ntext = 'It fails.'\n",
    "symptoms.toml": "[notions]\nnan = ['nan', 'not a number']\n\n[stop]\nwords = ['a', 'the']\nparticles = ['的']\n",
    "verification/harness.py": "def run():\n    pass\n",
    "verification/checks/indexing.py": "def check():\n    pass\n",
    "cases/first/case.toml": """\
id = "first"
cause = "one"
exception = "RuntimeError"
message = "found cpu and cuda"
devices = ["cpu", "cuda"]
libraries = ["torch"]
frames = ["train.py main"]
fixes = ["move"]
gpus = 1
needs = ["torch"]
reviewed = { on = 2026-11-22, seen = "the whole thread" }
by_hand = "the program needs the GPU it simulates"
inferred = ["frames: from the library's source", "en.was: nobody says so"]

[versions]
torch = "2.1"

[en]
title = "A title"
saw = "Seen."
was = "It was."
mended = "Mended."

[zh]
title = "标题"
saw = "所见。"
was = "原因。"
mended = "修复。"

[[sources]]
url = "https://example.org/1"
supports = "the error"

[[releases]]
library = "torch"
bad = ">=0.6.0,<0.7.1"
fixed = "0.7.1"
change = "https://example.org/2"
""",
    "cases/first/reproduce.py": "import sys\n\nprint(sys.argv)\n",
    "cases/first/trace.txt": "RuntimeError: found cpu and cuda\n",
}
for _cause, _other in (("one", "two"), ("two", "one")):
    FILES[f"causes/{_cause}.toml"] = f"""\
id = "{_cause}"
prior = 0.5
gpus = 1
checks = ["indexing"]

[en]
title = "A cause"
why = "Because."
tell = "So."

[zh]
title = "原因"
why = "因为。"
tell = "如此。"

[rather.{_other}]
en = "Rather that."
zh = "更可能是那个。"

[[fixes]]
kind = "move"
en = "Move it there."
zh = "移到那里。"
before = "y = x"
after = "y = x.cuda()"
command = "python {{script}}"
"""
    FILES[f"causes/{_cause}.py"] = (
        "def mistake(devices):\n    pass\n\n\ndef fixed(devices):\n    pass\n"
    )


def written(folder: Path) -> Path:
    """The folder, with the files in it."""
    for name, text in FILES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder
