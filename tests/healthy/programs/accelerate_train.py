"""A plain loop under accelerate."""

import logging
import sys

import torch
from accelerate import Accelerator
from accelerate.logging import get_logger
from accelerate.utils import set_seed

logging.basicConfig(format="%(asctime)s - %(levelname)s - %(name)s - %(message)s", level="DEBUG")
log = get_logger(__name__)


def main(fail=False):
    accelerator = Accelerator(gradient_accumulation_steps=2)
    set_seed(3)
    log.info(accelerator.state, main_process_only=False)
    model = torch.nn.Linear(4, 1)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.1)
    x = torch.randn(32, 4)
    data = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x, x.sum(1)), batch_size=4)
    model, optimizer, data = accelerator.prepare(model, optimizer, data)
    for step, (inputs, target) in enumerate(data):
        with accelerator.accumulate(model):
            loss = torch.nn.functional.mse_loss(model(inputs)[:, 0], target)
            accelerator.backward(loss)
            optimizer.step()
            optimizer.zero_grad()
        total = accelerator.gather(loss.detach()).mean()
        log.info(f"step {step} loss {total.item():.4f} on {accelerator.device}")
    accelerator.save_state("state")
    log.warning("gradient norm is not logged on CPU, no error")
    accelerator.end_training()
    print("saved, done")


main(*sys.argv[1:])
