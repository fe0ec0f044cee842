import torch
from torch import nn
from transformers import BertConfig, BertModel, BertPreTrainedModel, Trainer, TrainingArguments


class ManyAnswers(BertPreTrainedModel):
    def __init__(self, config):
        super().__init__(config)
        self.bert = BertModel(config)
        self.heads = nn.ModuleList([nn.Linear(config.hidden_size, 2) for _ in range(3)])  # finds: unregistered-submodule
        self.post_init()

    def forward(self, input_ids, labels=None):
        state = self.bert(input_ids).pooler_output
        loss = 0
        if labels is not None:
            for head in self.heads:
                loss = loss + nn.functional.cross_entropy(head(state), labels)
        return {"loss": loss}


config = BertConfig(vocab_size=30, hidden_size=8, num_hidden_layers=1, num_attention_heads=1, intermediate_size=8)
rows = [{"input_ids": torch.arange(1, 6), "labels": n % 2} for n in range(8)]
Trainer(ManyAnswers(config), TrainingArguments("out", max_steps=1, report_to=[]), train_dataset=rows).train()
