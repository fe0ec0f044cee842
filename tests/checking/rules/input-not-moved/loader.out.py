import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
data = TensorDataset(torch.rand(8, 4), torch.randint(2, (8,)))
model = nn.Linear(4, 2).to(device)
for x, y in DataLoader(data, batch_size=4):
    print(model(x.to(device)).shape)  # finds: input-not-moved
