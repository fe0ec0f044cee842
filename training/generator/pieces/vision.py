"""Models for images: timm and torchvision as they list them, networks of monai."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from ..model import Field, Piece


def _images(size: int, channels: int = 3) -> tuple[Field, ...]:
    return (Field("images", f"torch.rand($n, {channels}, {size}, {size})"),)


_SMALL = ("test_", "nano", "atto", "femto", "pico", "_050", "_035", "tiny", "_x0_", "mini", "lcnet", "0_5", "s0")


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
        yield Piece("timm", name.split("_")[0], name, ("import timm",), build, _images(64), "$body(images)")


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


_MONAI = (
    ("UNet", "spatial_dims=2, in_channels=1, out_channels=8, channels=(4, 8, 8), strides=(2, 2)"),
    ("BasicUNet", "spatial_dims=2, in_channels=1, out_channels=8, features=(4, 4, 8, 8, 8, 4)"),
    ("AttentionUnet", "spatial_dims=2, in_channels=1, out_channels=8, channels=(4, 8), strides=(2,)"),
    ("SegResNet", "spatial_dims=2, init_filters=8, in_channels=1, out_channels=8"),
    ("DenseNet", "spatial_dims=2, in_channels=1, out_channels=8, init_features=8, growth_rate=4, block_config=(2, 2)"),
    ("ResNet", "'basic', [1, 1, 1, 1], [4, 8, 8, 8], spatial_dims=2, n_input_channels=1, num_classes=8"),
    ("Regressor", "in_shape=(1, 32, 32), out_shape=(8,), channels=(4, 8), strides=(2, 2)"),
    ("Classifier", "in_shape=(1, 32, 32), classes=8, channels=(4, 8), strides=(2, 2)"),
    ("FlexibleUNet", "in_channels=1, out_channels=8, backbone='efficientnet-b0', spatial_dims=2"),
    ("UNETR", "in_channels=1, out_channels=8, img_size=32, feature_size=4, hidden_size=24, mlp_dim=32, num_heads=4, spatial_dims=2"),
    ("ViT", "in_channels=1, img_size=32, patch_size=8, hidden_size=24, mlp_dim=32, num_layers=2, num_heads=4, spatial_dims=2"),
    ("HighResNet", "spatial_dims=2, in_channels=1, out_channels=8"),
    ("EfficientNetBN", "'efficientnet-b0', spatial_dims=2, in_channels=1, num_classes=8, pretrained=False"),
    ("DynUNet", "2, 1, 8, [3, 3, 3], [1, 2, 2], [2, 2]"),
    ("SwinUNETR", "in_channels=1, out_channels=8, feature_size=12, spatial_dims=2, depths=(1, 1, 1, 1), num_heads=(1, 1, 1, 1)"),
    ("MILModel", "num_classes=8, pretrained=False"),
    ("VNet", "spatial_dims=2, in_channels=1, out_channels=8"),
)  # fmt: skip


def monai(rng: Random) -> Iterator[Piece]:
    """Networks of monai for images of one channel."""
    try:
        from monai.networks import nets
    except ImportError:
        return
    made = [one for one in _MONAI if hasattr(nets, one[0])]
    rng.shuffle(made)
    for name, given in made:
        yield Piece(
            "monai",
            name.lower(),
            name,
            (f"from monai.networks.nets import {name}",),
            f"{name}({given})",
            _images(32, 1),
            "$body(images)",
        )
