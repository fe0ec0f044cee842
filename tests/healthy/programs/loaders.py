"""DataLoaders with workers, and what torch warns of without a GPU."""

import logging
import os
import sys
import warnings

import torch
from torch.utils.data import DataLoader, Dataset

warnings.simplefilter("always")
logging.captureWarnings(True)
logging.basicConfig(
    level="DEBUG", format="[%(asctime)s][%(levelname)s][%(name)s:%(lineno)d] %(message)s"
)


class Numbers(Dataset):
    def __init__(self, kind="plain"):
        self.kind = kind

    def __len__(self):
        return 24

    def __getitem__(self, index):
        if self.kind == "ragged":
            return torch.ones(index % 3 + 1)
        if self.kind == "killed" and index == 9:
            os.kill(os.getpid(), 9)
        if self.kind == "missing":
            return torch.ones(4) * {"a": 1}[f"sample-{index}"]
        return torch.ones(4) * index


def healthy():
    for batch in DataLoader(Numbers(), batch_size=8, num_workers=6, pin_memory=True):
        logging.info("batch %s on %s", tuple(batch.shape), batch.device)


def amp():
    model = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1)
    scaler = torch.cuda.amp.GradScaler()
    for epoch in range(3):
        scheduler.step()
        with torch.cuda.amp.autocast(), torch.autocast("cuda", dtype=torch.float16):
            loss = model(torch.ones(2, 4)).mean()
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        torch.set_default_tensor_type("torch.FloatTensor")
        model.register_full_backward_hook(lambda *_: None)
        torch.nn.functional.mse_loss(torch.ones(2, 1), torch.ones(2))
        print(f"epoch {epoch}: loss {loss.item():.3f}, cuda available: {torch.cuda.is_available()}")
    torch.utils.checkpoint.checkpoint(model, torch.ones(2, 4))
    with torch.no_grad():
        print(model(torch.ones(1, 4)).device)


def consumed(kind):
    for batch in DataLoader(Numbers(kind), batch_size=4, num_workers=2):
        print(batch.shape)


{"healthy": healthy, "amp": amp}.get(sys.argv[1], lambda: consumed(sys.argv[1]))()
