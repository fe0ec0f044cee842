# cause: unregistered-tensor
# spot: self.dial.angles
# name: self.dial.angles
# devices: self.gain.device
class Gauge(nn.Module):
    def forward(self, x):
        return x + self.dial.angles
