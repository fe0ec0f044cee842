# spot: hours
# cause: dataparallel-replica-state
# devices: device
class Tides:
    def __call__(self, hours, device):
        if hours not in self.held:
            self.held[hours] = torch.arange(hours, device=device).cos()
        return self.held[hours]

    def drop(self, hours):
        del self.held[hours]
