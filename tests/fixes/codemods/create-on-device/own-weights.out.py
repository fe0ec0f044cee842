# spot: torch.zeros(2, n)
# devices: ;
# wanted: cuda:0
class Net(nn.Module):
    def init_hidden(self, n):
        return torch.zeros(2, n, device=next(self.parameters()).device)
