# cause: zero-offload
# spot: self.norms
def largest(self):
    return torch.stack(self.norms).max()
