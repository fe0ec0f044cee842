# devices: cuda:1,cuda:0
# causes: input-on-wrong-shard,input-not-moved,cross-shard-op,hardcoded-device
import torch
import torch.nn as nn

class ToyModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.net1 = nn.Linear(10, 10).to("cuda:0")
        self.relu = nn.ReLU()
        self.net2 = nn.Linear(10, 5).to("cuda:1")

    def forward(self, x):
        x = self.relu(self.net1(x.to("cuda:0")))
        return self.net2(x.to("cuda:1"))

model = ToyModel()
loss_fn = nn.MSELoss()
opt = torch.optim.SGD(model.parameters(), lr=0.001)
for _ in range(2):
    opt.zero_grad()
    out = model(torch.randn(20, 10))
    labels = torch.randn(20, 5).to("cuda:0")  # here
    loss_fn(out, labels).backward()  # fails
    opt.step()
