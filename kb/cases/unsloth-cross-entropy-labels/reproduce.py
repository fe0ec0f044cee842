"""The loss of a model that is spread over two GPUs is given labels that are on the first one.

Needs torch, accelerate and two GPUs. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` moves the labels to the logits first and prints "fixed: ok".
``FastCrossEntropyLoss`` does in torch what unsloth's kernel does in Triton.
"""

import sys

import torch
from accelerate import dispatch_model
from torch import nn

BALANCED = {"embed_tokens": 0, "layer": 0, "norm": 1, "lm_head": 1}


class FastCrossEntropyLoss(torch.autograd.Function):
    @staticmethod
    def forward(ctx, logits, labels, move_labels):
        if move_labels:
            labels = labels.to(logits.device)
        losses = torch.logsumexp(logits, dim=-1)
        losses.masked_fill_(labels == -100, 0)
        kept = labels.clamp(min=0)
        ctx.save_for_backward(logits, kept)
        return losses - logits.gather(-1, kept[:, None]).squeeze(-1)

    @staticmethod
    def backward(ctx, grad_losses):
        logits, kept = ctx.saved_tensors
        grad = logits.softmax(-1) - nn.functional.one_hot(kept, logits.shape[-1])
        return grad * grad_losses[:, None], None, None


class CausalLM(nn.Module):
    def __init__(self, vocab_size=16, width=8):
        super().__init__()
        self.embed_tokens = nn.Embedding(vocab_size, width)
        self.layer = nn.Linear(width, width)
        self.norm = nn.LayerNorm(width)
        self.lm_head = nn.Linear(width, vocab_size)

    def forward(self, input_ids, labels, move_labels):
        logits = self.lm_head(self.norm(self.layer(self.embed_tokens(input_ids))))
        losses = FastCrossEntropyLoss.apply(logits.flatten(0, 1), labels.flatten(), move_labels)
        return losses.mean()


def main(variant):
    torch.manual_seed(0)
    model = dispatch_model(CausalLM(), device_map=BALANCED)
    input_ids = torch.randint(16, (2, 5)).to("cuda:0")
    model(input_ids, input_ids, move_labels=variant == "fixed").backward()
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
