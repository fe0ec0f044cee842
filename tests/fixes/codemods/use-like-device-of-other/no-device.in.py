# spot: self.history = [torch.zeros(2, device=device)]
class Spotter(nn.Module):
    def reset(self, device):
        self.history = [torch.zeros(2, device=device)]
