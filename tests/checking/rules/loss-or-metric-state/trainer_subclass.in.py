# A trainer moves its model and the batches, and none of its own attributes.
import torch
from torch import nn
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments


class Balanced(Trainer):
    def __init__(self, counts, **options):
        super().__init__(**options)
        self.criterion = nn.CrossEntropyLoss(weight=1 / counts)  # finds: loss-or-metric-state

    def compute_loss(self, model, inputs, return_outputs=False, **rest):
        wanted = inputs.pop("labels")
        found = model(**inputs)
        loss = self.criterion(found.logits, wanted)
        return (loss, found) if return_outputs else loss


def main(rows):
    model = BertForSequenceClassification(BertConfig(num_labels=2))
    counts = torch.tensor([90.0, 10.0])
    Balanced(counts, model=model, args=TrainingArguments("out"), train_dataset=rows).train()


if __name__ == "__main__":
    main([])
