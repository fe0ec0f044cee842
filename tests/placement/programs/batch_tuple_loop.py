# devices: cuda:0,cpu
# causes: input-not-moved
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

def run_epoch(model, loader, opt, device):
    for step, (img, label) in enumerate(loader):
        img = img.to(device)  # here
        out = model(img)
        loss = nn.functional.cross_entropy(out, label)  # fails
        opt.zero_grad()
        loss.backward()
        opt.step()

device = torch.device("cuda")
model = nn.Sequential(nn.Flatten(), nn.Linear(12, 3)).to(device)
ds = TensorDataset(torch.rand(8, 3, 2, 2), torch.randint(0, 3, (8,)))
run_epoch(model, DataLoader(ds, batch_size=4), torch.optim.SGD(model.parameters(), 0.1), device)
