"""The Trainer adds up losses on the first GPU, and DPO's loss comes from the last one.

Needs torch, accelerate and two GPUs. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` moves each step's loss to the trainer's device and prints "fixed: ok".
Of the Trainer there is the loop that adds up the losses.
"""

import sys

import torch
from accelerate import dispatch_model
from torch import nn
from torch.nn.functional import logsigmoid


class MistralForCausalLM(nn.Module):
    def __init__(self, vocab_size=16, width=8):
        super().__init__()
        self.embed_tokens = nn.Embedding(vocab_size, width)
        self.lm_head = nn.Linear(width, vocab_size)

    def forward(self, input_ids):
        return self.lm_head(self.embed_tokens(input_ids))


class DPOTrainer:
    device = torch.device("cuda:0")

    def __init__(self, model, variant):
        self.model, self.variant = model, variant

    def log_probs(self, input_ids):
        logits = self.model.lm_head(self.model.embed_tokens(input_ids)).log_softmax(-1)
        return logits.gather(-1, input_ids.to(logits.device).unsqueeze(-1)).sum((1, 2))

    def compute_loss(self, inputs):
        ratio = self.log_probs(inputs["chosen"]) - self.log_probs(inputs["rejected"])
        return -logsigmoid(0.01 * ratio).mean()

    def training_step(self, inputs):
        loss = self.compute_loss(inputs)
        loss.backward()
        loss = loss.detach()
        return loss if self.variant == "failing" else loss.to(self.device)

    def train(self, batches):
        tr_loss = torch.zeros((), device=self.device)
        for inputs in batches:
            tr_loss_step = self.training_step(inputs)
            tr_loss += tr_loss_step
        return tr_loss.item() / len(batches)


def main(variant):
    torch.manual_seed(0)
    model = dispatch_model(MistralForCausalLM(), device_map={"embed_tokens": 0, "lm_head": 1})
    ids = torch.randint(16, (2, 2, 5)).to("cuda:0")
    trainer = DPOTrainer(model, variant)
    print("loss", trainer.train([{"chosen": ids[0], "rejected": ids[1]}] * 2))
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
