"""A mask made from token ids on one GPU scatters image features into embeddings on another.

Needs torch, accelerate and two GPUs. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` brings the mask to the embeddings' GPU and prints "fixed: ok".
The vision tower fills the first GPU, so the word embedding begins the second. accelerate's hooks
move the inputs of a module's forward, and nothing else.
"""

import sys

import torch
from accelerate import dispatch_model
from torch import nn

IMAGE_TOKEN_ID = 9
DEVICE_MAP = {"visual": 0, "embed_tokens": 1, "lm_head": 1}


class Qwen2VLForConditionalGeneration(nn.Module):
    def __init__(self, hidden_size=8):
        super().__init__()
        self.visual = nn.Linear(4, hidden_size)
        self.embed_tokens = nn.Embedding(16, hidden_size)
        self.lm_head = nn.Linear(hidden_size, 16)

    def forward(self, input_ids, pixel_values, move_mask):
        inputs_embeds = self.embed_tokens(input_ids)
        image_embeds = self.visual(pixel_values).to(inputs_embeds.device)
        # The ids stayed where the caller put them; the embeddings are where their weight is.
        image_mask = (input_ids == IMAGE_TOKEN_ID).unsqueeze(-1).expand_as(inputs_embeds)
        if move_mask:
            image_mask = image_mask.to(inputs_embeds.device)
        inputs_embeds = inputs_embeds.masked_scatter(image_mask, image_embeds)
        return self.lm_head(inputs_embeds)


def main(variant):
    torch.manual_seed(0)
    model = dispatch_model(Qwen2VLForConditionalGeneration(), device_map=DEVICE_MAP)
    input_ids = torch.tensor([[1, IMAGE_TOKEN_ID, IMAGE_TOKEN_ID, 2]], device="cuda:0")
    pixel_values = torch.randn(2, 4, device="cuda:0")
    logits = model(input_ids, pixel_values, move_mask=variant == "fixed")
    print("logits on", logits.device)
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
