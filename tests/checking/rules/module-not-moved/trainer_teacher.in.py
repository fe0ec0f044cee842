# The second model is not the trainer's: nobody moves it.
import torch
from torch.nn import functional as F
from transformers import AutoModelForSequenceClassification, Trainer


class Imitating(Trainer):
    def __init__(self, guide, **options):
        super().__init__(**options)
        self.guide = guide.eval()  # finds: module-not-moved

    def compute_loss(self, model, inputs, return_outputs=False, **rest):
        mine = model(**inputs)
        with torch.no_grad():
            theirs = self.guide(**inputs)
        loss = F.mse_loss(mine.logits, theirs.logits)
        return (loss, mine) if return_outputs else loss


small = AutoModelForSequenceClassification.from_pretrained("small")
large = AutoModelForSequenceClassification.from_pretrained("large")
Imitating(large, model=small).train()
