# spot: torch.zeros(n)
# devices: next(self.score.parameters()).device
class Net(nn.Module):
    def score(self, x):
        return x

    def forward(self, n):
        return self.score(torch.zeros(n))
