# spot: torch.zeros(2, n)
# devices: self.fc.weight.device
def init_hidden(self, n):
    h0 = torch.zeros(2, n, device=self.fc.weight.device)
    c0 = torch.zeros(2, n, device=self.fc.weight.device)
    return h0, c0
