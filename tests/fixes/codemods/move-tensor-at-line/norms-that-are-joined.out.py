# cause: zero-offload
# spot: self.norms
def largest(self):
    return torch.stack([part.to("cpu") for part in self.norms]).max()
