import torch
import torch.nn as nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.dev = torch.device("cuda")
        self.lin = nn.Linear(4, 4)
        self.register_buffer("steps", torch.arange(4.0).cuda())

    def forward(self, x):
        noise = torch.zeros(x.shape[0], 4).cuda()  # in a replica this is the replica's own GPU
        shift = torch.ones(4, device=self.dev)
        return self.lin(x) + noise + shift + self.steps

net = nn.DataParallel(Net().cuda())
print(net(torch.rand(8, 4).cuda()).shape)
