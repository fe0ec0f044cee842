"""A prefix's mask is made where the parameters rest, which is the cpu while they are offloaded.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` makes it where the batch's mask is and prints "fixed: ok". Hooks stand
for FSDP: a layer's parameters come to the GPU for its forward and go back.
"""

import sys

import torch
from torch import nn


def shard_with_offload(layer):
    layer.register_forward_pre_hook(lambda module, args: module.to("cuda:0") and None)
    layer.register_forward_hook(lambda module, args, output: module.to("cpu") and None)
    return layer


class Bloom(nn.Module):
    def __init__(self, vocab_size=16, width=8):
        super().__init__()
        self.word_embeddings = shard_with_offload(nn.Embedding(vocab_size, width))
        self.score = shard_with_offload(nn.Linear(width, 2, bias=False))

    def forward(self, inputs_embeds, attention_mask):
        weights = attention_mask / attention_mask.sum(1, keepdim=True)
        return self.score((inputs_embeds * weights[..., None]).sum(1))


class PeftModelForSequenceClassification(nn.Module):
    def __init__(self, base_model, variant, num_virtual_tokens=3, width=8):
        super().__init__()
        self.base_model, self.variant = base_model, variant
        self.num_virtual_tokens = num_virtual_tokens
        self.prompt_encoder = shard_with_offload(nn.Embedding(num_virtual_tokens, width))

    @property
    def device(self):
        return next(self.parameters()).device

    def get_prompt(self, batch_size, device):
        ids = torch.arange(self.num_virtual_tokens, device=device)
        return self.prompt_encoder(ids).expand(batch_size, -1, -1)

    def forward(self, input_ids, attention_mask):
        batch_size, device = len(input_ids), attention_mask.device
        mask_device = self.device if self.variant == "failing" else device
        prefix_mask = torch.ones(batch_size, self.num_virtual_tokens, device=mask_device)
        attention_mask = torch.cat((prefix_mask, attention_mask), dim=1)
        embeds = self.base_model.word_embeddings(input_ids)
        embeds = torch.cat((self.get_prompt(batch_size, device), embeds), dim=1)
        return self.base_model(embeds, attention_mask)


@torch.no_grad()
def main(variant):
    torch.manual_seed(0)
    model = PeftModelForSequenceClassification(Bloom(), variant)
    input_ids = torch.randint(16, (2, 5), device="cuda:0")
    model(input_ids, torch.ones(2, 5, device="cuda:0"))
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
