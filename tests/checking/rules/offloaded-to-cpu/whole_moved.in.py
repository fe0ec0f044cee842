from accelerate import dispatch_model
from torch import nn

class Two(nn.Module):
    def __init__(self):
        super().__init__()
        self.near, self.far = nn.Linear(2, 2), nn.Linear(2, 2)
    def forward(self, x):
        return self.far(self.near(x))

two = dispatch_model(Two(), {"near": 0, "far": "cpu"})
two.to("cuda")  # finds: offloaded-to-cpu
