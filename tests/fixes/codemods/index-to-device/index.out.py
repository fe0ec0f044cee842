# spot: index.flatten()
# devices: self.features.device
def lookup(self, index):
    return torch.index_select(self.features, 0, index.flatten().to(self.features.device))
