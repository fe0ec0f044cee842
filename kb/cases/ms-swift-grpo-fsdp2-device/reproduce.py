"""A trainer asks the model where it is, and the offloaded model says: on the cpu.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` asks the accelerator and prints "fixed: ok". ``offload_params`` does
what FSDP2's CPUOffloadPolicy does to one process: parameters rest on the cpu, forward is on the GPU.
"""

import sys
from types import SimpleNamespace

import torch
from torch import nn
from torch.func import functional_call


class Policy(nn.Module):
    def __init__(self, vocab_size=16, width=8):
        super().__init__()
        self.embed = nn.Embedding(vocab_size, width)
        self.lm_head = nn.Linear(width, vocab_size)

    @property
    def device(self):
        return next(self.parameters()).device

    def forward(self, input_ids):
        return self.lm_head(self.embed(input_ids)).log_softmax(-1)


def offload_params(model, device):
    sharded_forward = model.forward

    def forward(**inputs):
        gathered = {name: p.to(device) for name, p in model.named_parameters()}
        model.forward = sharded_forward
        try:
            return functional_call(model, gathered, (), inputs)
        finally:
            model.forward = forward

    model.forward = forward
    return model


def to_device(inputs, device):
    return {name: value.to(device) for name, value in inputs.items()}


class GRPOTrainer:
    def __init__(self, model, accelerator, variant):
        self.model, self.accelerator, self.variant = model, accelerator, variant

    def data_collator(self, rows):
        width = max(map(len, rows))
        return {"input_ids": torch.tensor([row + [0] * (width - len(row)) for row in rows])}

    def get_chunked_inputs(self, rows, start, end):
        device = self.model.device if self.variant == "failing" else self.accelerator.device
        return to_device(self.data_collator(rows[start:end]), device)

    def compute_loss(self, rows, advantages, chunk=2):
        losses = []
        for start in range(0, len(rows), chunk):
            inputs = self.get_chunked_inputs(rows, start, start + chunk)
            picked = self.model(**inputs)[:, :-1].gather(-1, inputs["input_ids"][:, 1:, None])
            losses.append(-(picked.sum((1, 2)) * advantages[start : start + chunk]).mean())
        return torch.stack(losses).mean()


def main(variant):
    torch.manual_seed(0)
    accelerator = SimpleNamespace(device=torch.device("cuda:0"))
    model = offload_params(Policy(), accelerator.device)
    trainer = GRPOTrainer(model, accelerator, variant)
    advantages = torch.tensor([1.0, -1.0, 0.5, -0.5], device=accelerator.device)
    trainer.compute_loss([[1, 2, 3], [4, 5], [6, 7, 8], [9, 1]], advantages).backward()
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
