"""Models for images, as timm and torchvision list them."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from ..model import Field, Piece


def _images(size: int, channels: int = 3) -> tuple[Field, ...]:
    return (Field("images", f"torch.rand($n, {channels}, {size}, {size})"),)


_SMALL = (
    "test_",
    "nano",
    "atto",
    "femto",
    "pico",
    "_050",
    "_035",
    "tiny",
    "_x0_",
    "mini",
    "lcnet",
    "0_5",
    "s0",
)


def timm(rng: Random) -> Iterator[Piece]:
    """Small models of timm; what is too large after all is dropped when it is probed."""
    try:
        import timm
    except ImportError:
        return
    names = [one for one in timm.list_models() if any(part in one for part in _SMALL)]
    rng.shuffle(names)
    for name in names:
        build = f'timm.create_model("{name}", num_classes=0)'
        if name.startswith(("test_vit", "vit_", "deit", "flexi", "beit", "mixer", "eva")):
            build = f'timm.create_model("{name}", num_classes=0, img_size=64)'
        yield Piece(
            "timm", name.split("_")[0], name, ("import timm",), build, _images(64), "$body(images)"
        )


def torchvision(rng: Random) -> Iterator[Piece]:
    """Classifiers of torchvision."""
    try:
        from torchvision import models
    except ImportError:
        return
    names = list(models.list_models(module=models))
    rng.shuffle(names)
    for name in names:
        yield Piece(
            "torchvision",
            name.split("_")[0].rstrip("0123456789"),
            name,
            ("from torchvision import models",),
            f"models.{name}(num_classes=24)",
            _images(64),
            "$body(images)",
        )
