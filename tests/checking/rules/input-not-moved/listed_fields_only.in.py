import torch
from torch import nn
from torch.utils.data import DataLoader

MOVED = ("x", "mask")

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.kind = nn.Embedding(3, 4)
        self.fc = nn.Linear(4, 2)
    def forward(self, x, mask, kind):
        return self.fc((x + self.kind(kind)) * mask)

def rows(batch):
    n = len(batch)
    return {"x": torch.stack(batch), "mask": torch.ones(n, 1), "kind": torch.zeros(n, dtype=torch.long)}

device = torch.device("cuda")
net = Net().to(device)
for batch in DataLoader([torch.randn(4) for _ in range(6)], batch_size=3, collate_fn=rows):
    batch = {k: (v.to(device) if k in MOVED else v) for k, v in batch.items()}  # finds: input-not-moved
    print(net(**batch).shape)
