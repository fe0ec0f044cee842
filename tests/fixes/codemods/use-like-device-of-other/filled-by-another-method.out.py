# cause: dataparallel-replica-state
# spot: self.low, self.high = steps.sin(), steps.cos()
# name: self.low
# devices: ;
class Waves(nn.Module):
    def fill(self, rows):
        steps = torch.arange(rows, device=self.scale.device)
        self.low, self.high = steps.sin(), steps.cos()
    def forward(self, x):
        if self.low is None or len(self.low) < len(x) or self.low.device != x.device:
            self.fill(len(x))
        return x * self.low + self.high
