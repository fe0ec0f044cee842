"""Small denoisers and autoencoders of diffusers."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from ..model import Field, Piece

_IMAGES = Field("sample", "torch.randn($n, 4, 16, 16)")
_STEPS = Field("timesteps", "torch.randint(0, 100, ($n,))")
_TEXT = Field("encoder_hidden_states", "torch.randn($n, 5, 16)")
_BLOCKS = "block_out_channels=(8, 16), norm_num_groups=4, layers_per_block=1"
_MADE = (
    ("UNet2DModel", f"sample_size=16, in_channels=4, out_channels=4, {_BLOCKS}, down_block_types=('DownBlock2D', 'AttnDownBlock2D'), up_block_types=('AttnUpBlock2D', 'UpBlock2D'), attention_head_dim=4", (_IMAGES, _STEPS), "$body(sample, timesteps).sample"),
    ("UNet2DConditionModel", f"sample_size=16, {_BLOCKS}, down_block_types=('DownBlock2D', 'CrossAttnDownBlock2D'), up_block_types=('CrossAttnUpBlock2D', 'UpBlock2D'), cross_attention_dim=16, attention_head_dim=4", (_IMAGES, _STEPS, _TEXT), "$body(sample, timesteps, encoder_hidden_states).sample"),
    ("AutoencoderKL", "in_channels=4, out_channels=4, block_out_channels=(8,), norm_num_groups=4, latent_channels=4", (_IMAGES,), "$body(sample).sample"),
    ("VQModel", "in_channels=4, out_channels=4, block_out_channels=(8,), norm_num_groups=4, num_vq_embeddings=16", (_IMAGES,), "$body(sample).sample"),
    ("AutoencoderTiny", "in_channels=4, out_channels=4, encoder_block_out_channels=(8, 8), decoder_block_out_channels=(8, 8), num_encoder_blocks=(1, 1), num_decoder_blocks=(1, 1)", (_IMAGES,), "$body(sample).sample"),
    ("Transformer2DModel", "num_attention_heads=2, attention_head_dim=8, in_channels=4, num_layers=1, norm_num_groups=4, cross_attention_dim=16", (_IMAGES, _TEXT), "$body(sample, encoder_hidden_states=encoder_hidden_states).sample"),
    ("PriorTransformer", "num_attention_heads=2, attention_head_dim=8, num_layers=1, embedding_dim=16, num_embeddings=5, additional_embeddings=4", (Field("hidden_states", "torch.randn($n, 16)"), _STEPS, Field("proj_embedding", "torch.randn($n, 16)"), _TEXT), "$body(hidden_states, timesteps, proj_embedding, encoder_hidden_states).predicted_image_embedding"),
    ("DiTTransformer2DModel", "num_attention_heads=2, attention_head_dim=8, in_channels=4, num_layers=1, sample_size=16, patch_size=4, num_embeds_ada_norm=100, norm_num_groups=4", (_IMAGES, _STEPS, Field("class_labels", "torch.randint(0, 10, ($n,))")), "$body(sample, timesteps, class_labels).sample"),
    ("SD3Transformer2DModel", "sample_size=16, patch_size=4, in_channels=4, num_layers=1, attention_head_dim=8, num_attention_heads=2, joint_attention_dim=16, caption_projection_dim=16, pooled_projection_dim=16, out_channels=4, pos_embed_max_size=8", (_IMAGES, _TEXT, Field("pooled", "torch.randn($n, 16)"), _STEPS), "$body(sample, encoder_hidden_states, pooled, timesteps).sample"),
    ("PixArtTransformer2DModel", "num_attention_heads=2, attention_head_dim=8, in_channels=4, out_channels=4, num_layers=1, sample_size=16, patch_size=4, cross_attention_dim=16, caption_channels=16, use_additional_conditions=False", (_IMAGES, _TEXT, _STEPS), "$body(sample, encoder_hidden_states, timesteps).sample"),
)  # fmt: skip


def pieces(rng: Random) -> Iterator[Piece]:
    """Each model of the list once."""
    try:
        import diffusers
    except ImportError:
        return
    made = [one for one in _MADE if hasattr(diffusers, one[0])]
    rng.shuffle(made)
    for name, given, fields, call in made:
        imports = (f"from diffusers import {name}",)
        yield Piece("diffusers", name.lower(), name, imports, f"{name}({given})", fields, call)
