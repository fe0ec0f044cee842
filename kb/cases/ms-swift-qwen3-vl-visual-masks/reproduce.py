"""The mask of the images was moved to the embeddings' GPU; that of the videos only where there are some.

Needs torch and two GPUs. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` moves the other mask as well and prints "fixed: ok".
"""

import sys

import torch
from torch import nn

IMAGE_TOKEN_ID, VIDEO_TOKEN_ID = 6, 7


def forward_qwen3_vl(embed_tokens, input_ids, image_embeds, video_embeds, variant):
    inputs_embeds = embed_tokens(input_ids.to(embed_tokens.weight.device))
    image_mask = (input_ids == IMAGE_TOKEN_ID).unsqueeze(-1).expand(inputs_embeds.shape)
    video_mask = (input_ids == VIDEO_TOKEN_ID).unsqueeze(-1).expand(inputs_embeds.shape)
    if image_embeds is not None:
        image_mask = image_mask.to(inputs_embeds.device)
        inputs_embeds = inputs_embeds.masked_scatter(image_mask, image_embeds)
    if video_embeds is not None:
        video_mask = video_mask.to(inputs_embeds.device)
        inputs_embeds = inputs_embeds.masked_scatter(video_mask, video_embeds)
    image_mask, video_mask = image_mask[..., 0], video_mask[..., 0]
    if variant == "fixed":
        video_mask = video_mask.to(image_mask.device)
    visual_pos_masks = image_mask | video_mask
    return inputs_embeds, visual_pos_masks


def main(variant):
    embed_tokens = nn.Embedding(8, 4, device="cuda:1")
    input_ids = torch.tensor([[1, 6, 6, 2]], device="cuda:0")
    image_embeds = torch.ones(2, 4, device="cuda:1")
    _, masks = forward_qwen3_vl(embed_tokens, input_ids, image_embeds, None, variant)
    print(masks.tolist())
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
