"""What an edit takes away that another mode of the program wants."""

from __future__ import annotations

from repair.guards import told_by

from diagnose.repair.validation.removed_features import (
    filled,
    left_whole,
    out_of_branch,
    planned,
    taken,
)

SHARDED = """\
def load(sharded):
    net = Net()
    if {asked}:
        parts = plan(net)
        net = dispatch_model(net, parts)
    return net
"""


def test_a_branch_is_not_left_with_half_of_what_it_does() -> None:
    before = SHARDED.format(asked="sharded")
    after = before.replace("        net = dispatch_model(net, parts)\n", "")
    assert [one.id for one in told_by(out_of_branch, before, after)] == ["gives-up"]
    whole = before.replace("    if sharded:\n        parts = plan(net)\n", "").replace(
        "        net = dispatch_model(net, parts)\n", ""
    )
    assert not list(told_by(out_of_branch, before, whole)), "the whole of it"
    other = before.replace("dispatch_model(net, parts)", "dispatch_model(net, parts, offload)")
    assert not list(told_by(out_of_branch, before, other)), "nothing is taken out"


def test_what_a_machine_has_is_no_mode() -> None:
    before = SHARDED.format(asked="torch.cuda.device_count() > 1")
    after = before.replace("        net = dispatch_model(net, parts)\n", "")
    assert not list(told_by(out_of_branch, before, after))


SERVED = """\
net = dispatch_model(net, plan) if {asked} else net
net.to(device)
serve(net)
"""


def test_what_is_not_always_spread_is_still_moved() -> None:
    before = SERVED.format(asked="len(plan) > 1")
    (found,) = told_by(left_whole, before, before.replace("net.to(device)\n", ""))
    assert found.id == "gives-up"
    assert "len(plan) > 1" in found.sentence
    moved = before.replace("net.to(device)", "net.to(place)")
    assert not list(told_by(left_whole, before, moved)), "it is moved elsewhere"
    always = before.replace(" if len(plan) > 1 else net", "")
    assert not list(told_by(left_whole, always, always.replace("net.to(device)\n", "")))


EMPTY = """\
def load(path, device):
    with {context}:
        net = Net()
    net.load_state_dict(torch.load(path), assign=True)
    return net.to(device)
"""


def test_what_is_filled_with_loaded_weights_is_made_without_memory() -> None:
    for context in ('torch.device("meta")', "init_empty_weights()"):
        before = EMPTY.format(context=context)
        after = before.replace(context, "torch.device(device)")
        assert [one.id for one in told_by(filled, before, after)] == ["gives-up"]
        unfilled = before.replace("net.load_state_dict(torch.load(path), assign=True)", "pass")
        assert not list(
            told_by(filled, unfilled, unfilled.replace(context, "torch.device(device)"))
        )
        by_name = before.replace("net.load_state_dict(torch.load(path), assign=True)", "put(net)")
        by_name = by_name.replace("put(", "set_module_tensor_to_device(")
        assert list(told_by(filled, by_name, by_name.replace(context, "torch.device(device)")))
    tables = before.replace("init_empty_weights()", "init_empty_weights(include_buffers=False)")
    assert not list(told_by(filled, before, tables)), "its weights still are made without memory"


WRAPPED = """\
class Trainer:
    def wrap(self, {given}):
        if count() > 1:
            {wrap}
        return net
"""


def test_what_others_hand_over_keeps_its_wrapper() -> None:
    for wrap, bare in (
        ("net = nn.DataParallel(net)", "pass"),
        ("return nn.DataParallel(net)", "return net"),
    ):
        before = WRAPPED.format(given="net", wrap=wrap)
        (found,) = told_by(taken, before, before.replace(wrap, bare))
        assert found.id == "taken"
        assert "nn.DataParallel" in found.sentence
        other = before.replace("count() > 1", "count() > 1 and alone(net)")
        assert not list(told_by(taken, before, other)), "it is still there"
        twice = before.replace("DataParallel(net)", "DataParallel(net, device_ids=ids)")
        assert not list(told_by(taken, before, twice)), "it is told something else"
        own = WRAPPED.format(given="kind", wrap=wrap)
        assert not list(told_by(taken, own, own.replace(wrap, bare))), "nobody hands it over"


def test_a_move_and_what_is_made_beside_are_no_wrappers() -> None:
    before = "def feed(net, x):\n    y = prepare(x)\n    return net(y.to(device))\n"
    assert not list(told_by(taken, before, before.replace("prepare(x)", "x")))
    assert not list(told_by(taken, before, before.replace("y.to(device)", "y")))
    chosen = "def wrap(net):\n    return nn.DataParallel(net) if count() > 1 else net\n"
    (found,) = told_by(taken, chosen, "def wrap(net):\n    return net\n")
    assert found.id == "taken"


def test_what_is_made_of_what_is_moved_first_is_the_same() -> None:
    before = "def pick(self, ids, device):\n    ids = self.rows[ids].to(device)\n    return ids\n"
    after = before.replace("self.rows[ids]", 'self.rows[ids.to("cpu")]')
    assert not list(told_by(taken, before, after))
    bare = "def pick(self, ids, device):\n    return prepare(ids)\n"
    assert not list(told_by(taken, bare, bare.replace("prepare(ids)", "prepare(ids.to(device))")))
    (found,) = told_by(taken, bare, bare.replace("prepare(ids)", "ids.to(device)"))
    assert found.id == "taken"


PLANNED = """\
def load(model, total):
    budget = {gpu: int(0.9 * total) for gpu in range(2)}
    plan = infer_auto_device_map(model, max_memory=budget)
    return dispatch_model(model, device_map=plan)
"""


def test_a_plan_by_the_memory_of_the_gpus_is_kept() -> None:
    after = PLANNED.replace("device_map=plan", 'device_map={"": 0}')
    (found,) = told_by(planned, PLANNED, after)
    assert found.id == "gives-up"
    assert "plan of line 3" in found.sentence
    assert list(
        told_by(
            planned, PLANNED, PLANNED.replace("dispatch_model(model, device_map=plan)", "model")
        )
    )
    free = PLANNED.replace(", max_memory=budget", "")
    assert not list(told_by(planned, free, after.replace(", max_memory=budget", ""))), (
        "no memory is told"
    )
    other = PLANNED.replace("device_map=plan", "device_map=plan, main_device=0")
    assert not list(told_by(planned, PLANNED, other))


def test_what_a_call_gives_may_be_made_otherwise() -> None:
    before = "def seeded(seed):\n    return torch.Generator().manual_seed(seed)\n"
    there = before.replace("Generator()", "Generator(device=place)")
    assert not list(told_by(taken, before, there))
    (found,) = told_by(taken, before, before.replace(".manual_seed(seed)", ""))
    assert found.id == "taken"
