# devices: cuda:0,cpu
# causes: module-not-moved
import random
import torch
import torch.nn as nn
import torch.nn.functional as F

class QNet(nn.Module):
    def __init__(self, obs, act):
        super().__init__()
        self.fc1 = nn.Linear(obs, 64)
        self.fc2 = nn.Linear(64, act)
    def forward(self, x):
        return self.fc2(F.relu(self.fc1(x)))

class Agent:
    def __init__(self, obs, act, device="cuda"):
        self.device = torch.device(device)
        self.q = QNet(obs, act).to(self.device)
        self.target = QNet(obs, act)  # here
        self.target.load_state_dict(self.q.state_dict())
        self.memory = []
        self.opt = torch.optim.Adam(self.q.parameters(), lr=1e-3)

    def act(self, s):
        with torch.no_grad():
            return self.q(torch.tensor(s, dtype=torch.float32, device=self.device).unsqueeze(0)).argmax().item()

    def learn(self):
        batch = random.sample(self.memory, 8)
        s, a, r, s2, d = map(lambda x: torch.tensor(x, dtype=torch.float32).to(self.device), zip(*batch))
        q = self.q(s).gather(1, a.long().unsqueeze(1)).squeeze(1)
        with torch.no_grad():
            nxt = self.target(s2).max(1).values  # fails
        loss = F.mse_loss(q, r + 0.99 * nxt * (1 - d))
        self.opt.zero_grad(); loss.backward(); self.opt.step()

agent = Agent(4, 2)
for i in range(10):
    agent.memory.append(([0.] * 4, 0, 1.0, [0.] * 4, 0.0))
agent.learn()
