# spot: torch.zeros(2, n)
# devices: self.fc.weight.device
def init_hidden(self, n):
    h0 = torch.zeros(2, n)
    c0 = torch.zeros(2, n)
    return h0, c0
