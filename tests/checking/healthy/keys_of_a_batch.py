# Each entry of a batch goes to the GPU, however deep the loops are.
import torch
from torch import nn
from torch.utils.data import DataLoader

class Rows(torch.utils.data.Dataset):
    def __len__(self):
        return 4

    def __getitem__(self, i):
        return {"row": torch.rand(3), "kind": torch.tensor(i % 2)}

net = nn.Linear(3, 2).to("cuda")
for part in range(2):
    for epoch in range(2):
        for batch in DataLoader(Rows(), batch_size=2):
            for key in batch.keys():
                batch[key] = batch[key].to("cuda")
            print(nn.functional.cross_entropy(net(batch["row"]), batch["kind"]).item())
        for batch in DataLoader(Rows(), batch_size=2):
            for key, value in batch.items():
                batch[key] = value.to("cuda")
            print(nn.functional.cross_entropy(net(batch["row"]), batch["kind"]).item())
