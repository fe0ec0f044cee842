# devices: cuda:0,cpu
# causes: submodule-added-after-move
import torch
from transformers import BertModel
from torch import nn

class Clf(nn.Module):
    def __init__(self, name):
        super().__init__()
        self.bert = BertModel.from_pretrained(name)
        self.cls = nn.Linear(768, 2)
    def forward(self, ids):
        return self.cls(self.bert(ids).pooler_output)

clf = Clf("bert-base-uncased")
clf.cuda()
clf.cls = nn.Sequential(nn.Dropout(0.1), nn.Linear(768, 7))  # here
print(clf(torch.ones(1, 5, dtype=torch.long).cuda()))  # fails
