import numpy as np
import torch
from torch import nn


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(4, 2)

    def forward(self, obs):
        return torch.distributions.Categorical(logits=self.net(obs))


device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
policy = Policy().to(device)
actions = np.zeros(3, dtype=np.int64)
for t in range(3):
    obs = torch.as_tensor(np.ones(4, dtype=np.float32)).to(device)
    action = policy(obs).sample()
    actions[t] = action.detach().cpu().numpy()  # finds: host-copy-needed
