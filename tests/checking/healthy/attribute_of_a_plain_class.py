import torch


class ReplayBuffer:
    """Lives on the host on purpose; what is sampled is moved."""

    def __init__(self, size, dim):
        self.obs = torch.zeros(size, dim)
        self.rew = torch.zeros(size)
        self.n = 0

    def add(self, o, r):
        self.obs[self.n] = o
        self.rew[self.n] = r
        self.n += 1

    def sample(self, k, device):
        idx = torch.randint(0, self.n, (k,))
        return self.obs[idx].to(device), self.rew[idx].to(device)


device = torch.device("cuda")
q = torch.nn.Linear(3, 1).to(device)
buf = ReplayBuffer(10, 3)
for _ in range(5):
    buf.add(torch.rand(3), 1.0)
o, r = buf.sample(4, device)
print(((q(o).squeeze(-1) - r) ** 2).mean())
