# spot: torch.ones(3)
# devices: ;
device = "cpu"


class Net(L.LightningModule):
    def training_step(self, batch, index):
        return torch.ones(3, device=self.device) * batch
