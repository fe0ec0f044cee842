# spot: torch.zeros(2, n)
# devices: ;
# wanted: cuda:0
class Net(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.cell = nn.LSTM(n, n)

    def init_hidden(self, n):
        return torch.zeros(2, n, device=next(self.parameters()).device)
