# devices: cuda:0,cpu
# causes: unregistered-tensor
import pytorch_lightning as pl
import torch
from torch import nn

class DDPM(pl.LightningModule):
    def __init__(self, T=100):
        super().__init__()
        self.net = nn.Linear(4, 4)
        beta = torch.linspace(1e-4, 0.02, T)
        self.alpha_bar = torch.cumprod(1 - beta, 0)  # here

    def training_step(self, batch, _):
        x, = batch
        t = torch.randint(0, 100, (x.size(0),), device=self.device)
        a = self.alpha_bar[t][:, None]  # fails
        noisy = a.sqrt() * x + (1 - a).sqrt() * torch.randn_like(x)  # fails
        return (self.net(noisy) ** 2).mean()

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters())

pl.Trainer(accelerator="gpu", devices=1).fit(DDPM(), torch.utils.data.DataLoader(torch.utils.data.TensorDataset(torch.rand(8, 4))))
