"""Lightning's Trainer on a tiny module."""

import sys

import lightning as L
import torch
import torchmetrics
from lightning.pytorch.callbacks import EarlyStopping, LearningRateMonitor, ModelCheckpoint
from lightning.pytorch.loggers import CSVLogger, TensorBoardLogger


class Net(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.save_hyperparameters()
        self.teacher = torch.nn.Linear(4, 2)
        self.layers = torch.nn.Sequential(
            torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 2)
        )
        self.accuracy = torchmetrics.Accuracy(task="multiclass", num_classes=2)

    def training_step(self, batch, _):
        loss = torch.nn.functional.cross_entropy(self.layers(batch[0]), batch[1])
        self.log("train_loss", loss, prog_bar=True)
        return loss

    def validation_step(self, batch, _):
        scores = self.layers(batch[0])
        self.accuracy(scores, batch[1])
        self.log("val_loss", torch.nn.functional.cross_entropy(scores, batch[1]), prog_bar=True)
        self.log("val_acc", self.accuracy, prog_bar=True)

    test_step = validation_step

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=0.02)


def batches(count=32):
    torch.manual_seed(0)
    x = torch.randn(count, 4)
    return torch.utils.data.DataLoader(
        torch.utils.data.TensorDataset(x, (x.sum(1) > 0).long()), batch_size=8
    )


def plain():
    trainer = L.Trainer(max_epochs=2, log_every_n_steps=50)
    trainer.fit(Net(), batches(), batches())
    trainer.test(ckpt_path="best", dataloaders=batches())


def callbacks():
    L.seed_everything(1)
    trainer = L.Trainer(
        max_epochs=6, accelerator="cpu", precision="bf16-mixed", enable_progress_bar=False,
        logger=[TensorBoardLogger("runs"), CSVLogger("runs")], gradient_clip_val=1.0, profiler="simple",
        callbacks=[
            EarlyStopping("val_loss", patience=1, verbose=True, min_delta=0.5),
            ModelCheckpoint(monitor="val_loss", verbose=True), LearningRateMonitor(),
        ],
    )  # fmt: skip
    trainer.fit(Net(), batches(), batches())


def ddp():
    trainer = L.Trainer(
        max_epochs=1, accelerator="cpu", devices=2, strategy="ddp_find_unused_parameters_true", logger=False,
        enable_progress_bar=False, detect_anomaly=True,
    )  # fmt: skip
    trainer.fit(Net(), batches(), batches())


def nan_loss():
    class Diverges(Net):
        def training_step(self, batch, index):
            return super().training_step(batch, index) * (batch[0].sum() * 0).log().log()

    L.Trainer(max_epochs=1, logger=False, detect_anomaly=True, enable_progress_bar=False).fit(
        Diverges(), batches()
    )


if __name__ == "__main__":
    globals()[sys.argv[1]]()
