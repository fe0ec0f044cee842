# spot: self.cache = torch.zeros(3)
class Head(nn.Module):
    def __init__(self):
        self.cache = None
        super().__init__()
        if cached:
            self.cache = torch.zeros(3)
