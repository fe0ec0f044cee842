import torch
from torch import nn

class Carry(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.rnn = nn.LSTM(2, n, batch_first=True)
        self.n = n
        self.state = tuple(torch.zeros(1, 4, n) for _ in range(2))  # finds: unregistered-tensor

    def forward(self, x):
        y, self.state = self.rnn(x, self.state)
        return y

net = Carry(3).to("cuda")
print(net(torch.randn(4, 5, 2, device="cuda")).shape)
