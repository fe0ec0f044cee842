# devices: cuda:1,cuda:0
# causes: dataparallel-replica-state,unregistered-tensor,hardcoded-device
import torch
from torch import nn
from transformers import BertModel, Trainer, TrainingArguments

class Tagger(nn.Module):
    def __init__(self, name, weights):
        super().__init__()
        self.bert = BertModel.from_pretrained(name)
        self.drop = nn.Dropout(0.1)
        self.out = nn.Linear(768, 5)
        self.class_weights = weights.cuda()  # here

    def forward(self, input_ids, attention_mask=None, labels=None):
        h = self.drop(self.bert(input_ids, attention_mask=attention_mask)[0])
        logits = self.out(h)
        loss = nn.functional.cross_entropy(logits.view(-1, 5), labels.view(-1), weight=self.class_weights)  # fails
        return {"loss": loss, "logits": logits}

model = Tagger("bert-base-uncased", torch.ones(5))
trainer = Trainer(model=model, args=TrainingArguments("o"), train_dataset=None)
trainer.train()
