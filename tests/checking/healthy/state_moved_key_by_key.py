# All that was loaded goes to the GPU, one entry after the other.
import tempfile

import torch

path = tempfile.mkstemp()[1]
torch.save({"mean": torch.zeros(3), "scale": torch.ones(3)}, path)
state = torch.load(path, map_location="cpu")
for key in state:
    state[key] = state[key].to("cuda")
x = torch.rand(2, 3, device="cuda")
print(((x - state["mean"]) * state["scale"]).shape)
