# cause: loss-or-metric-state
# spot: self.scores = {"f1": F1Score(), "auc": AUROC()}
import lightning as L
from torch import nn
from torchmetrics import AUROC, F1Score


class Screening(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(3, 2)
        self.scores = nn.ModuleDict({"f1": F1Score(), "auc": AUROC()})
