"""A trainer's own loss ends on the last GPU of a split model, and the Trainer sums on the first.

Needs torch, transformers, accelerate and two GPUs. ``python reproduce.py failing`` ends in the
Trainer's error, ``python reproduce.py fixed`` moves the loss and prints "fixed: ok".
"""

import sys
import tempfile

import torch
from accelerate import dispatch_model
from torch import nn
from torch.nn.functional import logsigmoid
from transformers import Trainer, TrainingArguments


class PolicyBody(nn.Module):
    def __init__(self, vocab_size=32, width=8):
        super().__init__()
        self.embed = nn.Embedding(vocab_size, width)
        self.layer = nn.Linear(width, width)
        self.head = nn.Linear(width, vocab_size)

    def forward(self, input_ids):
        log_probs = self.head(self.layer(self.embed(input_ids))).log_softmax(-1)
        self.last_device = log_probs.device
        return (
            log_probs[:, :-1].gather(-1, input_ids[:, 1:, None].to(log_probs.device)).mean((1, 2))
        )


class ORPOTrainer(Trainer):
    variant, beta = "failing", 0.1

    def odds_ratio_loss(self, chosen, rejected):
        log_odds = (chosen - rejected) - (torch.log1p(-chosen.exp()) - torch.log1p(-rejected.exp()))
        return -self.beta * logsigmoid(log_odds)

    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        both = torch.cat([inputs["chosen"], inputs["rejected"]])
        chosen, rejected = model(input_ids=both).to(model.last_device).chunk(2)
        loss = (self.odds_ratio_loss(chosen, rejected) - chosen).mean()
        return loss.to(self.args.device) if self.variant == "fixed" else loss


def main(variant):
    torch.manual_seed(0)
    model = dispatch_model(PolicyBody(), device_map={"embed": 0, "layer": 0, "head": 1})
    pairs = [dict(zip(("chosen", "rejected"), torch.randint(32, (2, 6)), strict=True))] * 4
    with tempfile.TemporaryDirectory() as folder:
        args = TrainingArguments(
            folder,
            per_device_train_batch_size=2,
            max_steps=1,
            report_to=[],
            save_strategy="no",
            remove_unused_columns=False,
            disable_tqdm=True,
        )
        trainer = ORPOTrainer(model=model, args=args, train_dataset=pairs)
        trainer.variant = variant
        trainer.train()
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
