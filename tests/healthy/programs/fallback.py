"""Device errors that a program expects, reports and gets over.

The meta device is real on every machine, so its errors are too.
"""

import logging
import sys
import traceback
import warnings

import torch

logging.basicConfig(level="INFO", format="%(asctime)s | %(levelname)-7s | %(message)s")
log = logging.getLogger("train")


def step(model, device):
    return model(torch.ones(2, 4, device=device)).sum()


def probe():
    """The error's sentence in a warning; then the run goes on elsewhere."""
    model = torch.nn.Linear(4, 2)
    for device in ("meta", "cpu"):
        try:
            loss = step(model, device)
        except RuntimeError as error:
            log.warning("device %s cannot be used (%s); falling back to cpu", device, error)
    train(model, loss)


def warned():
    """The error's sentence in a Python warning, with a benchmark that skips what does not work."""
    model = torch.nn.Linear(4, 2)
    try:
        step(model, "meta")
    except RuntimeError as error:
        warnings.warn(f"Benchmark on meta skipped: {error}", RuntimeWarning, stacklevel=1)
    train(model, step(model, "cpu"))


def retried():
    """The whole traceback of a step that is tried again, and then works."""
    model = torch.nn.Linear(4, 2)
    try:
        step(model, "meta")
    except RuntimeError:
        log.exception("step 0 failed on meta, retrying on cpu")
    train(model, step(model, "cpu"))


def printed():
    """As `retried`, the way people do it without logging."""
    model = torch.nn.Linear(4, 2)
    try:
        step(model, "meta")
    except RuntimeError:
        traceback.print_exc()
        print("retrying on cpu ...")
    train(model, step(model, "cpu"))


def train(model, loss):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for number in range(8):
        optimizer.zero_grad()
        loss = step(model, "cpu")
        loss.backward()
        optimizer.step()
        log.info("step %d loss %.4f", number, loss.item())
    torch.save(model.state_dict(), "model.pt")
    log.info("training finished, saved model.pt")


def then_shape():
    """A device warning, then the failure that ends the run."""
    model = torch.nn.Linear(4, 2)
    try:
        step(model, "meta")
    except RuntimeError as error:
        log.warning("device meta cannot be used (%s); falling back to cpu", error)
    log.info("step 0 loss %.4f", step(model, "cpu").item())
    model(torch.ones(2, 5))


def then_key():
    """A device error's whole traceback, got over; then another failure ends the run."""
    model = torch.nn.Linear(4, 2)
    try:
        step(model, "meta")
    except RuntimeError:
        log.exception("step 0 failed on meta, retrying on cpu")
    batch = {"input_ids": torch.ones(2, 4)}
    log.info("step 0 loss %.4f", step(model, "cpu").item())
    model(batch["pixel_values"])


def then_assertion():
    """An error raised while a device error is handled that was only a probe."""
    model = torch.nn.Linear(4, 2)
    try:
        step(model, "meta")
    except RuntimeError as error:
        warnings.warn(f"meta is not usable here: {error}", stacklevel=1)
    assert torch.cuda.device_count() >= 2, "this benchmark wants two GPUs"


globals()[sys.argv[1]]()
