# devices: cuda:0,cpu
# causes: submodule-added-after-move
import lightning as L
import torch
from lightning.pytorch.callbacks import Callback
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

class Stack(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.stages = nn.ModuleList([nn.Linear(4, 4)])
    def widen(self):
        self.stages.append(nn.Linear(4, 4))  # here
    def training_step(self, batch, number):
        (x,) = batch
        for stage in self.stages:
            x = stage(x)  # fails
        return x.mean()
    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)

class Widen(Callback):
    def on_train_epoch_start(self, trainer, pl_module):
        if trainer.current_epoch:
            pl_module.widen()

trainer = L.Trainer(max_epochs=2, accelerator="gpu", devices=1, callbacks=[Widen()])
trainer.fit(Stack(), DataLoader(TensorDataset(torch.rand(8, 4)), batch_size=4))
