"""A host's text: a style's template, filled with a piece and features.

Templates and features are data. In them ``<N:one|two>`` is a name drawn once a feature and ``<N>`` the same
again, ``$name`` what the style calls it (``model``, ``self.model``), ``$_name`` a thing that the style
hands on from its preparation to its loop. In a style a line that is ``@slot`` alone is what stands there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from random import Random
from typing import Any

from .drawing import class_name, drawn
from .inputs import Inputs
from .model import Host, Piece
from .templates import LOOP, SECTIONS, Style


def host(
    piece: Piece, style: Style, chosen: Sequence[Mapping[str, Any]], rng: Random, name: str
) -> Host:
    """A piece in a style with features, noted with the mistakes that can be made."""
    texts = _sections(chosen, rng)
    roles = _roles(style, rng)
    roles["head"] = rng.choice(("head", "fc", "top", "out_proj"))
    net = class_name(piece, rng)
    inputs = Inputs(piece, style, rng)
    slots = {
        **texts,
        "imports": _imports(piece, style, texts["imports"], inputs),
        "defs": "\n\n".join(filter(None, (piece.defs.strip(), inputs.defs, texts["defs"]))),
        "net": _net(piece, style, net, texts, rng),
        "data": inputs.data,
        "loop": inputs.loop,
        "moves": inputs.moves,
        "unpack": inputs.unpack,
    }
    default = f"$model = {net}($made).to($device)  #: module-not-moved|unmove|$model"
    slots["model"] = texts["model"].replace("$Net", net) or default
    slots["optimizer"] = texts["optimizer"] or _optimizer(rng)
    slots["criterion"] = f"$criterion = {texts['criterion'] or rng.choice(_CRITERIA)}"
    roles |= {
        "Net": net,
        "args": inputs.given,
        "y": inputs.labels,
        "xin": inputs.first,
        "width": str(piece.width),
        "batch": inputs.names,
        "n": "12",
        "other": str(1 - int(roles["number"])),
    }
    text = _filled(style.template, slots)
    return Host(
        name,
        _named(text, roles, style),
        piece.package,
        piece.family,
        style.name,
        tuple(one["name"] for one in chosen),
        int(roles["gpus"]),
        tuple(roles["argv"].split()),
        tuple(tuple(one.split("=", 1)) for one in style.words("env")),  # type: ignore[misc]
        piece,
    )


_CRITERIA = (
    "nn.CrossEntropyLoss()",
    "nn.CrossEntropyLoss(label_smoothing=0.1)",
    "nn.CrossEntropyLoss()",
)


def _optimizer(rng: Random) -> str:
    rate = rng.choice(("1e-3", "3e-4", "0.01"))
    made = rng.choice(("AdamW", "Adam", "SGD", "RMSprop", "NAdam", "Adamax"))
    return f"$optimizer = torch.optim.{made}($model.parameters(), lr={rate})"


def _sections(chosen: Iterable[Mapping[str, Any]], rng: Random) -> dict[str, str]:
    """What features say in each section, their own names drawn."""
    texts: dict[str, list[str]] = {section: [] for section in (*SECTIONS, *LOOP)}
    for feature in chosen:
        names: dict[str, str] = {}
        for section in (*SECTIONS, *LOOP):
            if text := feature.get(section, "").strip("\n"):
                texts[section].append(drawn(text, names, rng))
    return {
        section: ("\n\n" if section == "defs" else "\n").join(some)
        for section, some in texts.items()
    }


def _roles(style: Style, rng: Random) -> dict[str, str]:
    """What a style calls things, and the device it computes on."""
    gpus = rng.choice(style.words("gpus") or ("1", "2"))
    number = 1 if gpus != "1" and rng.random() < 0.5 and "fixed" not in style.settings else 0
    literal = f"cuda:{number}"
    plain = rng.choice((f"'{literal}'", f"torch.device('{literal}')"))
    if number == 0:
        plain = rng.choice(
            (plain, "'cuda'", "torch.device('cuda' if torch.cuda.is_available() else 'cpu')")
        )
    own = {
        "device": rng.choice(("device", "device", "dev", "DEVICE")),
        "model": rng.choice(("model", "net", "classifier")),
        "criterion": rng.choice(("criterion", "loss_fn", "objective")),
        "optimizer": rng.choice(("optimizer", "optim", "opt")),
        "out": rng.choice(("logits", "out", "output", "pred", "scores")),
        "loss": "loss",
        "classes": str(rng.choice((3, 4, 5, 7))),
        "made": "",
    }
    told = style.settings.get("device")
    roles = own | {
        "literal": plain.replace("'", '"'),
        "number": str(number),
        "gpus": gpus,
        "argv": "",
    }
    if told:
        roles["device"] = told
    if "argv" in style.settings:
        roles["argv"] = style.settings["argv"].replace("$number", str(number))
    return roles


def _imports(piece: Piece, style: Style, texts: str, inputs: Inputs) -> str:
    rows = ["import torch", "from torch import nn", *piece.imports, *inputs.imports]
    rows += [
        row for row in (*texts.split("\n"), *style.settings.get("imports", "").split(";")) if row
    ]
    return "\n".join(
        sorted({row.strip() for row in rows}, key=lambda row: (row[:4] == "from", row))
    )


def _net(piece: Piece, style: Style, name: str, texts: Mapping[str, str], rng: Random) -> str:
    """The class of the model: the piece, what features add, a head; on two devices where split."""
    split = style.settings.get("net") == "split"
    body = rng.choice(("body", "backbone", "encoder", "trunk", "base"))
    head = "$head"
    given = ", ".join(one.name for one in piece.fields)
    call = piece.call.replace("$body", f"self.{body}")
    rows = [f"class {name}(nn.Module):"]
    rows += [
        f"    def __init__(self{', first, second' if split else ''}):",
        "        super().__init__()",
    ]
    if split:
        rows += [
            "        self.first, self.second = first, second",
            f"        self.{body} = {piece.build}.to(first)",
            "        self.mix = nn.Linear($width, $width).to(second)",
            f"        self.{head} = nn.Linear($width, $classes).to(second)",
        ]
    else:
        rows += [f"        self.{body} = {piece.build}"]
        rows += [f"        {row}" for row in texts["init"].split("\n") if row]
        rows += [f"        self.{head} = nn.Linear($width, $classes)"]
    rows += ["", f"    def forward(self, {given}):", f"        h = {call}"]
    if split:
        rows += [
            "        later = torch.relu(self.mix(h.to(self.second)))  #: cross-shard-op|unmove|h",
            "        h = later + h.to(later.device)  #: cross-shard-op|unmove|h",
        ]
    else:
        rows += [f"        {row}" for row in texts["forward"].split("\n") if row]
    rows += [f"        return self.{head}(h)"]
    return "\n".join(rows)


def _filled(template: str, slots: Mapping[str, str]) -> str:
    """A template with its slots, and slots in those, filled."""
    rows: list[str] = []
    for row in template.split("\n"):
        slot = re.fullmatch(r"(\s*)@(\w+)", row)
        if slot is None:
            rows.append(row)
        elif text := slots.get(slot[2], ""):
            inner = _filled(text, slots)
            rows += [slot[1] + one if one else "" for one in inner.split("\n")]
    return "\n".join(rows)


def _named(text: str, roles: Mapping[str, str], style: Style) -> str:
    """A text with the style's names for things, and what its loop is handed on."""
    own = style.words("self")
    kept = list(dict.fromkeys(re.findall(r"\$_(\w+)", text)))
    mine = "self." if "kept" in own else ""
    text = text.replace("@params", "".join(f", {one}" for one in kept if not mine))
    text = re.sub(r"\$_(\w+)", lambda found: mine + found[1], text)

    def role(found: re.Match[str]) -> str:
        called = roles.get(found[1], found[0])
        return f"self.{called}" if found[1] in own else called

    for _ in range(3):
        text = re.sub(r"\$(\w+)", role, text)
    text = re.sub(r"\n{4,}", "\n\n\n", text)
    return f"{text.strip()}\n"
