"""Moves that do not fit what the program does beside them, and where they would."""

from __future__ import annotations

import pytest
from repair.forms import shorter
from repair.guards import told_by

from diagnose.repair.patch import Patch
from diagnose.repair.refinement.better_places import better_placed
from diagnose.repair.refinement.shard_transfers import sending
from diagnose.repair.validation import redundant_moves
from diagnose.repair.validation.redundant_moves import flipped

_WRAPS = """\
def build(ids):
    net = Net()
    net.cuda()
    net = nn.DataParallel(net, ids)
    return net
"""
_CACHES = """\
def bias(length, device):
    if length not in cache:
        cache[length] = torch.arange(length, device=device)
    return cache[length]


def forward(x):
    return x + bias(len(x), x.device)
"""
_HELPS = """\
class Trainer:
    def __init__(self, average=True):
        self.average = Average(net) if average else None
        self.device = "cuda"
        self.rest = 1
"""
_FETCHES = """\
class Loop:
    def away(self, *modules):
        for one in modules:
            one.to("cpu")

    def there(self, *modules):
        for one in modules:
            one.to(self.device)

    def update(self, x):
        with torch.no_grad():
            known = self.ref(x)
        return known
"""
_REFUSES = """\
def attend(q, k):
    if not q.is_cuda:
        raise RuntimeError("q has to be on a GPU")
    return q @ k.to(q.device)
"""
CASES = {
    "twice": (_WRAPS, "DataParallel(net, ids)", "DataParallel(net.to(ids[0]), ids)"),
    "deaf": (_CACHES, "bias(len(x), x.device)", "bias(len(x), x.device).to(x.device)"),
    "put-away": (_FETCHES, "self.ref(x)", "self.ref.to(self.device)(x)"),
}


def _after(name: str) -> tuple[str, str]:
    program, old, new = CASES[name]
    assert old in program
    return program, program.replace(old, new)


def test_what_is_moved_already_is_not_moved_on() -> None:
    after = _REFUSES.replace("k.to(q.device)", "k.to(q.device).to(q.weight.device)")
    (found,) = told_by(redundant_moves, _REFUSES, after)
    assert found.id == "twice"
    assert "moves k again" in found.sentence
    host = _REFUSES.replace("k.to(q.device)", "k.cpu()")
    assert not list(told_by(redundant_moves, host, host.replace("k.cpu()", "k.cpu().to(q.device)")))


@pytest.mark.parametrize("name", CASES)
def test_a_move_in_the_wrong_place_is_refused(name: str) -> None:
    assert [guard.id for guard in told_by(redundant_moves, *_after(name))] == [name]


@pytest.mark.parametrize(
    ("name", "rows"),
    [
        ("twice", ["    net.to(ids[0])", "    net = nn.DataParallel(net, ids)"]),
        ("deaf", ["    return cache[length].to(device)", "    return x + bias(len(x), x.device)"]),
        (
            "put-away",
            [
                "            self.there(self.ref)",
                "            known = self.ref(x)",
                "            self.away(self.ref)",
            ],
        ),
    ],
)
def test_the_better_place_is_proposed_and_not_refused(name: str, rows: list[str]) -> None:
    before, after = _after(name)
    better = next(better_placed(Patch(before, after)))
    assert not list(told_by(redundant_moves, before, better))
    assert set(rows) <= set(better.splitlines())


def test_what_was_used_in_between_may_go_on() -> None:
    before = "def run(x):\n    x = x.to(first)\n    y = enter(x)\n    return leave(x), y\n"
    after = before.replace("leave(x)", "leave(x.to(second))")
    assert not list(told_by(redundant_moves, before, after))


def test_what_is_named_by_a_device_is_bound_to_the_right_one() -> None:
    before = """\
def build(gpus):
    device = torch.device("cuda:1")
    net = Net().to(device)
    return nn.DataParallel(net, gpus), device
"""
    after = before.replace("Parallel(net,", "Parallel(net.to(gpus[0]),")
    named = before.replace('torch.device("cuda:1")', "torch.device(gpus[0])")
    assert named in list(better_placed(Patch(before, after)))


_SPLIT = """\
class Split(nn.Module):
    {property}
    def forward(self, ids):
        return self.head(self.embed(ids))


def main(net, rows, devices):
    for ids in rows:
        print(net(ids.to(devices[0])))
"""
_KNOWN = """@property
    def first(self):
        return self.embed.weight.device
"""


@pytest.mark.parametrize(
    ("known", "device"), [("", "next(net.embed.parameters()).device"), (_KNOWN, "net.first")]
)
def test_a_split_model_is_sent_what_it_is_given_at_once(known: str, device: str) -> None:
    before = _SPLIT.format(property=known)
    after = before.replace("(ids))", "(ids.to(next(self.embed.parameters()).device)))")
    better = before.replace("devices[0]", device)
    line = after[: after.index("return self.head")].count("\n") + 1
    assert better in list(sending(Patch(before, after), {line}))
    assert not list(sending(Patch(before, after), set()))


@pytest.mark.parametrize(
    ("old", "new", "holds"),
    [
        ('add("--map", default=True)', 'add("--map", default=False)', False),
        ("def build(offload=True):", "def build(offload=False):", False),
        ("    offload: bool = True", "    offload: bool = False", False),
        ('add("--map", default=4)', 'add("--map", default=count())', True),
        ("load(rows, pin_memory=True)", "load(rows, pin_memory=False)", True),
    ],
)
def test_an_option_is_not_only_turned_around(old: str, new: str, holds: bool) -> None:
    found = [guard.id for guard in told_by(flipped, f"{old}\n", f"{new}\n")]
    assert found == ([] if holds else ["gives-up"])


def test_only_the_part_that_is_kept_is_moved() -> None:
    before = "features = vgg(weights=None).features[:6].eval()\n"
    after = before.replace("None)", "None).to(opt.device)")
    found = [one.texts["a.py"] for one in shorter({"a.py": before}, {"a.py": after})]
    assert found[0] == "features = vgg(weights=None).features[:6].eval().to(opt.device)\n"
    whole = "net = build().requires_grad_(False)\n"
    moved = whole.replace("build()", "build().to(device)")
    assert not list(shorter({"a.py": whole}, {"a.py": moved}))


def test_a_device_that_may_be_the_cpu_is_told_so() -> None:
    before = "net = build()\n"
    after = "net = build().cuda(self.device)\n"
    found = [one.texts["a.py"] for one in shorter({"a.py": before}, {"a.py": after})]
    assert found[0] == "net = build().to(self.device)\n"
    back = shorter({"a.py": "net = build().cuda()\n"}, {"a.py": found[0]})
    assert all("cuda" not in one.texts["a.py"] for one in back), "shorter, and right for fewer"


def test_a_question_without_an_answer_goes() -> None:
    before = "if count > 1:\n    net = wrap(net)\nrun(net)\n"
    after = before.replace("net = wrap(net)", "pass")
    found = [one.texts["a.py"] for one in shorter({"a.py": before}, {"a.py": after})]
    assert found == ["run(net)\n"]
    both = before.replace("run(net)", "else:\n    run(net)")
    assert not list(shorter({"a.py": both}, {"a.py": both.replace("net = wrap(net)", "pass")}))


def test_what_is_seen_of_an_argument_is_sent_with_it() -> None:
    before = _SPLIT.format(property="").replace("embed(ids)", "embed(ids.flatten(1))")
    after = before.replace(".flatten(1)", ".flatten(1).to(self.embed.weight.device)")
    line = after[: after.index("return self.head")].count("\n") + 1
    assert before.replace("devices[0]", "next(net.embed.parameters()).device") in list(
        sending(Patch(before, after), {line})
    )


def test_a_function_that_an_edit_adds_stays_whole() -> None:
    before = "class Batch:\n    size = 1\n"
    after = f"{before}    def to(self, device):\n        return self\n"
    assert not list(shorter({"a.py": before}, {"a.py": after}))


def test_what_is_moved_is_no_part_of_what_is_moved_elsewhere() -> None:
    before = "y = dec(torch.cat([skip, up(x)]))\n"
    after = "y = dec(torch.cat([skip, up(x).to(skip.device)]).to(dec.device))\n"
    (found,) = told_by(redundant_moves.hops, before, after)
    assert found.id == "twice"
    once = "y = dec(torch.cat([skip.to(x.device), up(x)]))\n"
    assert not list(told_by(redundant_moves.hops, before, once))
    same = "y = dec(torch.cat([skip.to(x.device), up(x.to(x.device))]))\n"
    assert not list(told_by(redundant_moves.hops, before, same))
    kept = "return self.rows[ids].to(device)\n"
    moved = kept.replace("[ids]", "[ids.to(self.rows.device)]")
    assert not list(
        told_by(redundant_moves.hops, f"def f(self):\n    {kept}", f"def f(self):\n    {moved}")
    ), "it was there"


_GONE = """\
class Loop:
    def fetch(self):
        self.low.to(self.device)

    def run(self, x):
        return self.low(x)
"""


def test_a_move_that_the_program_makes_elsewhere_is_added_here_all_the_same() -> None:
    after = _GONE.replace("self.low(x)", "self.low.to(self.device)(x)")
    assert "put-away" in [one.id for one in told_by(redundant_moves, _GONE, after)]
