"""One mask, moved to the logits, picks positions of logits and of labels, which are elsewhere.

Needs torch, accelerate and two GPUs. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` takes the mask to the labels for them and prints "fixed: ok".
"""

import sys

import torch
from accelerate import dispatch_model
from torch import nn


class PaliGemma(nn.Module):
    def __init__(self, variant, vocab_size=16, width=8):
        super().__init__()
        self.variant, self.vocab_size = variant, vocab_size
        self.multi_modal_projector = nn.Linear(12, width)
        self.embed_tokens = nn.Embedding(vocab_size, width)
        self.language_model = nn.GRU(width, width, batch_first=True)
        self.lm_head = nn.Linear(width, vocab_size)

    def forward(self, pixel_values, input_ids, attention_mask, labels):
        images = self.multi_modal_projector(pixel_values)
        hidden = torch.cat([images, self.embed_tokens(input_ids)], dim=1)
        logits = self.lm_head(self.language_model(hidden)[0])[:, images.shape[1] :]
        shift_logits, shift_labels = logits[..., :-1, :], labels[..., 1:]
        shift_attention_mask = attention_mask[..., 1:]
        keep = shift_attention_mask.to(logits.device) != 0
        shift_logits = shift_logits[keep].contiguous()
        if self.variant == "fixed":
            keep = keep.to(shift_labels.device)
        shift_labels = shift_labels[keep].contiguous().to(shift_logits.device)
        return nn.functional.cross_entropy(shift_logits, shift_labels)


def main(variant):
    torch.manual_seed(0)
    device_map = {"multi_modal_projector": 0, "embed_tokens": 0, "language_model": 1, "lm_head": 1}
    model = dispatch_model(PaliGemma(variant), device_map=device_map)
    ids = torch.randint(16, (2, 5), device="cuda:0")
    mask = torch.tensor([[1, 1, 1, 1, 0], [1, 1, 1, 0, 0]], device="cuda:0")
    model(torch.randn(2, 3, 12, device="cuda:0"), ids, mask, labels=ids).backward()
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
