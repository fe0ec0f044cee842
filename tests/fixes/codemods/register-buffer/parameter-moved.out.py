# spot: self.scale = nn.Parameter(torch.ones(1)).cuda()
class Head(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(1))
