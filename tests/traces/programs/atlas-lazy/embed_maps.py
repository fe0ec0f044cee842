"""Embeds map tiles; the encoder is made without memory first, so that loading is quick."""

import torch
from accelerate import init_empty_weights
from transformers import ViTConfig, ViTModel


def tile_encoder():
    config = ViTConfig(
        image_size=32,
        patch_size=8,
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=64,
    )
    with init_empty_weights():
        encoder = ViTModel(config, add_pooling_layer=False)
    return encoder.eval()


def embed(encoder, tiles):
    with torch.inference_mode():
        return encoder(pixel_values=tiles).last_hidden_state[:, 0]


if __name__ == "__main__":
    encoder = tile_encoder()
    print(sum(p.numel() for p in encoder.parameters()), "parameters")
    encoder = encoder.to("cuda")
    print(embed(encoder, torch.rand(2, 3, 32, 32, device="cuda")).shape)
