import os
import tempfile

import torch
from torch import nn

device = torch.device("cuda")
path = os.path.join(tempfile.mkdtemp(), "last.pt")
net = nn.Linear(3, 3).to(device)
torch.save({"net": net.state_dict(), "draws": torch.get_rng_state()}, path)

kept = torch.load(path, map_location=device)
net.load_state_dict(kept["net"])
torch.set_rng_state(kept["draws"].detach().cpu())  # finds: host-copy-needed
print(torch.rand(1))
