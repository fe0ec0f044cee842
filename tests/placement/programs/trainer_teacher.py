# devices: cuda:0,cpu
# causes: module-not-moved
import torch
import torch.nn as nn
from transformers import Trainer, TrainingArguments, AutoModelForCausalLM

class KDTrainer(Trainer):
    def __init__(self, teacher_model=None, temperature=2.0, **kw):
        super().__init__(**kw)
        self.teacher = teacher_model  # here
        self.temperature = temperature

    def compute_loss(self, model, inputs, return_outputs=False):
        out = model(**inputs)
        with torch.no_grad():
            ref = self.teacher(**inputs)  # fails
        loss = nn.functional.mse_loss(out.logits, ref.logits)
        return (loss, out) if return_outputs else loss

student = AutoModelForCausalLM.from_pretrained("distilgpt2")
teacher = AutoModelForCausalLM.from_pretrained("gpt2-medium")
args = TrainingArguments("out")
KDTrainer(teacher_model=teacher, model=student, args=args, train_dataset=None).train()
