import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Items(Dataset):
    def __len__(self):
        return 4

    def __getitem__(self, i):
        return {"pixels": torch.rand(5), "label": torch.tensor(i % 2)}


device = torch.device("cuda:0")
model = nn.Linear(5, 2).to(device)
criterion = nn.CrossEntropyLoss()
loader = DataLoader(Items(), batch_size=2)
for batch in loader:
    logits = model(batch["pixels"])  # finds: input-not-moved
    criterion(logits, batch["label"].to(device)).backward()
