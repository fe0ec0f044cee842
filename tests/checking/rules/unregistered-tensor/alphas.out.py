import torch
import torch.nn as nn
import torch.nn.functional as F


class Diffusion(nn.Module):
    def __init__(self, steps=10):
        super().__init__()
        self.steps = steps
        betas = torch.linspace(1e-4, 0.02, steps)
        self.register_buffer("alpha_bar", torch.cumprod(1 - betas, dim=0), persistent=False)  # finds: unregistered-tensor
        self.net = nn.Linear(4, 4)

    def forward(self, x0):
        t = torch.randint(0, self.steps, (x0.shape[0],), device=x0.device)
        a = self.alpha_bar[t].view(-1, 1)
        noise = torch.randn_like(x0)
        xt = a.sqrt() * x0 + (1 - a).sqrt() * noise
        return F.mse_loss(self.net(xt), noise)


device = "cuda" if torch.cuda.is_available() else "cpu"
ddpm = Diffusion()
ddpm = ddpm.to(device)
loss = ddpm(torch.rand(3, 4, device=device))
loss.backward()
