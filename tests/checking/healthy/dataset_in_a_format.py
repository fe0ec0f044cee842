import torch
from datasets import Dataset
from torch import nn
from torch.utils.data import DataLoader


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 2)

    def forward(self, x, labels):
        return nn.functional.cross_entropy(self.fc(x), labels)


rows = Dataset.from_dict({"x": torch.rand(8, 4).tolist(), "labels": [0, 1] * 4})
rows = rows.with_format("torch", device="cuda:0")
model = Classifier().to("cuda:0")
for batch in DataLoader(rows, batch_size=4):
    model(**batch).backward()
