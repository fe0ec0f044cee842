# devices: cpu,cuda:0
# causes: generator-device
import torch

class Masker:
    def __init__(self, ratio, seed=0):
        self.ratio = ratio
        self.g = torch.Generator()  # here
        self.g.manual_seed(seed)

    def __call__(self, x):
        noise = torch.rand(x.shape[:2], generator=self.g, device=x.device)  # fails
        return x * (noise > self.ratio).unsqueeze(-1)

m = Masker(0.5)
m(torch.rand(2, 4, 8).to("cuda"))
