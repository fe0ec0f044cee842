"""A causal mask is computed from positions on the first GPU and embeddings on the second.

Needs torch, accelerate and two GPUs. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` takes the positions to the mask's device and prints "fixed: ok".
"""

import sys

import torch
from accelerate import dispatch_model
from torch import nn
from torch.nn.functional import scaled_dot_product_attention

DEVICE_MAP = {"vision_tower": 0, "embed_tokens": 1, "proj": 1, "lm_head": 1}
IMAGE = 9


def causal_mask(attention_mask, inputs_embeds, cache_position, fixed):
    if attention_mask.all():
        return None
    device = inputs_embeds.device
    if fixed:
        cache_position = cache_position.to(device)
    keys = torch.arange(attention_mask.shape[-1], device=device)
    past = keys <= cache_position[:, None]
    allowed = past & attention_mask[:, None].to(device).bool()
    return torch.where(allowed, 0.0, -1e9)


class VisionLanguageModel(nn.Module):
    fixed = False

    def __init__(self, vocab_size=32, width=8):
        super().__init__()
        self.vision_tower = nn.Linear(12, width)
        self.embed_tokens = nn.Embedding(vocab_size, width)
        self.proj = nn.Linear(width, width)
        self.lm_head = nn.Linear(width, vocab_size)

    def forward(self, input_ids, attention_mask, pixel_values):
        cache_position = torch.arange(input_ids.shape[1], device=input_ids.device)
        inputs_embeds = self.embed_tokens(input_ids)
        features = self.vision_tower(pixel_values).flatten(0, 1).to(inputs_embeds)
        at_image = (input_ids == IMAGE).unsqueeze(-1).to(inputs_embeds.device)
        inputs_embeds = inputs_embeds.masked_scatter(at_image, features)
        mask = causal_mask(attention_mask, inputs_embeds, cache_position, self.fixed)
        hidden = self.proj(inputs_embeds)
        return self.lm_head(scaled_dot_product_attention(hidden, hidden, hidden, attn_mask=mask))


def main(variant):
    torch.manual_seed(0)
    model = dispatch_model(VisionLanguageModel().eval(), device_map=DEVICE_MAP)
    model.fixed = variant == "fixed"
    input_ids = torch.tensor([[0, 0, 9, 9, 4], [3, 9, 9, 5, 6]]).to("cuda:0")
    with torch.no_grad():
        model(input_ids, (input_ids != 0).long(), torch.randn(2, 2, 12).to("cuda:0"))
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
