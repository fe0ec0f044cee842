# spot: hours
# cause: dataparallel-replica-state
# devices: device
class Tides:
    def __call__(self, hours, device):
        if (hours, device) not in self.held:
            self.held[hours, device] = torch.arange(hours, device=device).cos()
        return self.held[hours, device]
