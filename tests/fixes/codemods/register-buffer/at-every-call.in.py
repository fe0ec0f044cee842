# spot: self.cache = torch.zeros(len(x))
class Head(nn.Module):
    def forward(self, x):
        self.cache = torch.zeros(len(x))
        return x + self.cache
