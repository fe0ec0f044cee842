import lightning as L
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

class Split(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.low = nn.Linear(4, 4).to("cuda:0")
        self.high = nn.Linear(4, 1).to("cuda:1")

    def forward(self, x):
        return self.high(self.low(x.to("cuda:0")).to("cuda:1"))

    def training_step(self, batch, batch_idx):
        return self(batch[0]).mean()

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)

loader = DataLoader(TensorDataset(torch.rand(8, 4)), batch_size=4)
L.Trainer(max_epochs=1, accelerator="gpu", devices=1).fit(Split(), loader)  # finds: device-map-under-training
