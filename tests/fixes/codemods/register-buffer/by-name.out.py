# cause: unregistered-tensor
# spot: setattr(self, name, fn(angles))
# devices: ;
import torch


class Rotary(torch.nn.Module):
    def __init__(self, angles):
        super().__init__()
        for name, fn in (("sin", torch.sin), ("cos", torch.cos)):
            self.register_buffer(name, fn(angles), persistent=False)
