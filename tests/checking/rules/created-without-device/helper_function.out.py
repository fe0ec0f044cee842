import torch


def causal(n):
    return torch.tril(torch.ones(n, n, device="cuda:0"))  # finds: created-without-device


class Attention(torch.nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.q = torch.nn.Linear(dim, dim)
        self.k = torch.nn.Linear(dim, dim)

    def forward(self, x):
        scores = self.q(x) @ self.k(x).transpose(-1, -2)
        scores = scores.masked_fill(causal(x.size(1)) == 0, float("-inf"))
        return scores.softmax(-1)


if __name__ == '__main__':
    layer = Attention(8).to('cuda')
    print(layer(torch.rand(2, 5, 8).to('cuda')).shape)
