"""Models of transformers with tiny random configurations, as they are listed by the library itself."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Iterator
from random import Random
from typing import Any

from ..model import Field, Piece

#: Sizes for whatever of these a configuration knows.
_TINY: dict[str, Any] = {
    **dict.fromkeys(("hidden_size", "d_model", "n_embd", "dim", "embed_dim", "emb_dim"), 16),
    **dict.fromkeys(("embedding_size", "projection_dim", "word_embed_proj_dim", "decoder_hidden_size"), 16),
    **dict.fromkeys(("num_hidden_layers", "n_layer", "n_layers", "num_layers", "depth"), 2),
    **dict.fromkeys(("encoder_layers", "decoder_layers", "num_decoder_layers"), 1),
    **dict.fromkeys(("num_attention_heads", "n_head", "n_heads", "num_heads", "num_key_value_heads"), 2),
    **dict.fromkeys(("encoder_attention_heads", "decoder_attention_heads"), 2),
    **dict.fromkeys(("intermediate_size", "ffn_dim", "encoder_ffn_dim", "decoder_ffn_dim", "d_ff"), 32),
    **dict.fromkeys(("hidden_dim", "n_inner", "ffn_hidden_size", "moe_intermediate_size"), 32),
    **dict.fromkeys(("vocab_size", "max_position_embeddings", "n_positions", "n_ctx"), 64),
    **dict.fromkeys(("head_dim", "d_kv", "attention_head_size", "kv_channels"), 8),
    **dict.fromkeys(("num_experts", "num_local_experts", "n_routed_experts"), 4),
    "num_experts_per_tok": 2, "image_size": 32, "patch_size": 8, "num_channels": 3,
    "rotary_dim": 4, "state_size": 8, "max_source_positions": 64, "max_target_positions": 64,
    "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2, "decoder_start_token_id": 1,
    "num_mel_bins": 8, "type_vocab_size": 2, "relative_attention_num_buckets": 8,
    "max_2d_position_embeddings": 64,
}  # fmt: skip
_IDS = Field("input_ids", "torch.randint(3, 60, ($n, 10))")
_MASK = Field("attention_mask", "torch.ones($n, 10, dtype=torch.long)")
_IMAGES = Field("pixel_values", "torch.randn($n, 3, 32, 32)")
_DECODER = Field("decoder_input_ids", "torch.randint(3, 60, ($n, 6))")


def pieces(rng: Random) -> Iterator[Piece]:
    """A piece of each kind of model, in a random order."""
    try:
        from transformers.models.auto.modeling_auto import MODEL_MAPPING_NAMES as named
    except ImportError:
        return
    kinds = sorted(kind for kind, model in named.items() if isinstance(model, str))
    rng.shuffle(kinds)
    for kind in kinds:
        try:
            piece = _piece(kind, named[kind], rng)
        except Exception:
            continue
        if piece is not None:
            yield piece


def _piece(kind: str, name: str, rng: Random) -> Piece | None:
    import transformers

    config_class = importlib.import_module("transformers").AutoConfig.for_model(kind).__class__
    model = getattr(transformers, name)
    known = inspect.signature(config_class).parameters
    sizes = {key: value for key, value in _TINY.items() if key in known}
    if rng.random() < 0.4:
        layers = next(
            (one for one in ("num_hidden_layers", "n_layer", "num_layers") if one in sizes), ""
        )
        sizes |= {layers: 1} if layers else {}
    given = ", ".join(f"{key}={value}" for key, value in sizes.items())
    main = getattr(model, "main_input_name", "input_ids")
    encoder = getattr(config_class(**sizes), "is_encoder_decoder", False)
    if main == "pixel_values":
        fields: tuple[Field, ...] = (_IMAGES,)
    elif main == "input_ids" and encoder:
        fields = (_IDS, _DECODER)
    elif main == "input_ids":
        fields = (_IDS, _MASK) if rng.random() < 0.4 else (_IDS,)
    elif main in ("input_values", "input_features"):
        fields = (Field(main, "torch.randn($n, 800)"),)
    else:
        return None
    passed = ", ".join(f"{one.name}={one.name}" for one in fields)
    return Piece(
        "transformers",
        kind,
        name,
        (f"from transformers import {name}, {config_class.__name__}",),
        f"{name}({config_class.__name__}({given}))",
        fields,
        f"$body({passed})",
    )


def adapted(rng: Random) -> Iterator[Piece]:
    """The same with adapters of peft."""
    try:
        import peft  # noqa: F401
    except ImportError:
        return
    configs = (
        ("LoraConfig", 'r=4, target_modules="all-linear"'),
        ("IA3Config", 'target_modules=["query", "q_proj", "key"], feedforward_modules=[]'),
        ("LoHaConfig", 'r=2, target_modules=["query", "q_proj", "value"]'),
        ("VeraConfig", 'r=4, target_modules=["query", "q_proj", "value", "v_proj"]'),
        ("OFTConfig", 'r=0, oft_block_size=4, target_modules=["query", "q_proj", "v_proj"]'),
    )
    for piece in pieces(rng):
        config, given = rng.choice(configs)
        yield piece._replace(
            package="peft",
            family=f"{config[:-6].lower()}-{piece.family}",
            imports=(*piece.imports, f"from peft import {config}, get_peft_model"),
            build=f"get_peft_model({piece.build}, {config}({given}))",
        )
