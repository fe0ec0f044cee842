"""What users choose stays chosen, and what is imported has its names."""

from __future__ import annotations

import pytest
from repair.guards import told_by

from diagnose.repair.validation.options import unbound, unread

FLAG = """\
def main(parser):
    parser.add_argument("--keep-on-cpu", action="store_true")
    args = parser.parse_args()
    mean = Average(net, device="cpu" if args.keep_on_cpu else None)
"""
FIELD = """\
@dataclass
class Job:
    seed: int = 0
    device: str = "cuda"


def sample(job):
    return torch.Generator(device=job.device).manual_seed(job.seed)
"""


@pytest.mark.parametrize(
    ("program", "old", "new"),
    [
        (FLAG, '"cpu" if args.keep_on_cpu else None', "device"),
        (FLAG.replace('--keep-on-cpu"', '--cpu", dest="keep_on_cpu"'), "args.keep_on_cpu", "True"),
        (FIELD, "job.device", '"cpu"'),
        (FIELD.replace("@dataclass\n", "").replace("Job:", "Job(NamedTuple):"), "job.device", "0"),
    ],
)
def test_who_sets_an_option_chooses_something(program: str, old: str, new: str) -> None:
    assert program.count(old) == 1
    after = program.replace(old, new)
    assert [guard.id for guard in told_by(unread, program, after)] == ["gives-up"]
    other = "\n\ndef other(job, args):\n    use(job.device, args.keep_on_cpu)\n"
    assert not list(told_by(unread, program + other, after + other)), "it is asked elsewhere"


HELD = """\
@dataclass
class Job:
    mode: str = "int8"
    device: str = "cuda"


class Desk:
    def __init__(self, job):
        self.device = torch.device(job.device)
        self.net = load(job.mode).to(self.device)


def main(args):
    return Desk(Job(mode=args.mode, device=args.device))
"""


def test_what_an_object_calls_alike_is_another_thing() -> None:
    after = HELD.replace("torch.device(job.device)", 'torch.device("cpu")')
    assert [guard.id for guard in told_by(unread, HELD, after)] == ["gives-up"]
    asked = HELD.replace("load(job.mode)", "load(job.mode, job.device)")
    kept = after.replace("load(job.mode)", "load(job.mode, job.device)")
    assert not list(told_by(unread, asked, kept)), "it is asked elsewhere"
    own = HELD.replace("@dataclass\n", "").replace("class Job:", "class Job(dict):")
    assert not told_by(unread, own, own.replace("job.device)", '"cpu")')), "it is no option"


CHOICE = """\
def begin(self, p):
    where = self.home or p.device
    self.state[p] = p.detach().to(where)
"""


def test_what_is_bound_to_one_or_the_other_is_asked_for() -> None:
    after = CHOICE.replace("to(where)", "to(p.device)")
    (found,) = told_by(unread, CHOICE, after)
    assert "where" in found.sentence
    whole = after.replace("    where = self.home or p.device\n", "")
    assert not list(told_by(unread, CHOICE, whole)), "it went as a whole"
    plain = CHOICE.replace("self.home or p.device", "self.home")
    assert not list(told_by(unread, plain, plain.replace("to(where)", "to(p.device)")))


def test_what_is_no_option_may_go() -> None:
    program = FIELD.replace("@dataclass\n", "")
    assert not list(told_by(unread, program, program.replace("job.device", "x.device")))


def test_a_key_of_the_program_s_own_settings_is_an_option() -> None:
    program = """\
SETTINGS = {"spread": True, "replicas": True}


def load(settings):
    net = make()
    if settings["replicas"]:
        net = nn.DataParallel(net)
    return net
"""
    asked = '    if settings["replicas"]:\n        net = nn.DataParallel(net)\n'
    assert [one.id for one in told_by(unread, program, program.replace(asked, ""))] == ["gives-up"]
    other = program + "\n\nprint(SETTINGS.get('replicas'))\n"
    assert [*told_by(unread, other, other.replace(asked, ""))] == []


SCRIPT = """\
def build():
    with torch.device("meta"):
        return Net()


if __name__ == "__main__":
    fabric = Fabric()
    net = build()
"""


def test_a_function_that_is_imported_has_its_names() -> None:
    after = SCRIPT.replace('"meta"', "fabric.device")
    assert [guard.id for guard in told_by(unbound, SCRIPT, after)] == ["absent"]
    told = after.replace("build():", "build(fabric):")
    assert not list(told_by(unbound, SCRIPT, told))
    always = f"fabric = Fabric()\n\n\n{SCRIPT}"
    assert not list(told_by(unbound, always, always.replace('"meta"', "fabric.device")))
    before = SCRIPT.replace("return Net()", "return Net(fabric)")
    assert not list(told_by(unbound, before, before.replace('"meta"', "fabric.device")))


def test_a_function_asks_for_no_name_that_another_one_binds() -> None:
    before = (
        "def build(n):\n    gpu = pick()\n    return Net(n)\n\n\ndef feed(n):\n    return rand(n)\n"
    )
    after = before.replace("rand(n)", "rand(n).to(gpu)")
    assert [guard.id for guard in told_by(unbound, before, after)] == ["absent"]
    other = before.replace(
        "    gpu = pick()\n    return Net(n)", "    if n:\n        gpu = pick()\n    return Net(n)"
    )
    moved = other.replace("Net(n)", "Net(n).to(gpu)")
    assert [guard.id for guard in told_by(unbound, other, moved)] == ["absent"], "not in every case"
