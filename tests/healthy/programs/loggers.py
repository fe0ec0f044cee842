"""One run told by loguru, structlog and rich."""

import sys

import torch


def loguru():
    from loguru import logger

    logger.debug("model on {}, batch on {}", torch.device("cuda:0"), torch.device("cpu"))
    for step in range(3):
        logger.info("step {} loss={:.4f} errors=0", step, 1 / (step + 1))
    logger.warning("Offloading the optimizer state to cpu: 2 of 4 shards moved to device cuda:1")
    try:
        {}["cache"]
    except KeyError:
        logger.opt(exception=False).info("no cache entry, computing it")
    logger.success("finished with 0 failed steps")


def structlog():
    import structlog

    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper("iso"),
            structlog.processors.JSONRenderer(),
        ]
    )
    log = structlog.get_logger()
    log.info("run started", devices=["cuda:0", "cuda:1", "cpu"], error=None, exception=None)
    for step in range(4):
        log.debug("step", step=step, loss=1 / (step + 1), nan_steps=0, error_rate=0.0)
    log.warning("tensor moved to another device", found="cpu", expected="cuda:0", error_count=0)
    log.info("run finished", status="ok", failures=0)


def rich():
    import logging

    from rich.console import Console
    from rich.logging import RichHandler
    from rich.progress import track
    from rich.table import Table

    console = Console(width=100, force_terminal=True)
    logging.basicConfig(
        level="DEBUG", format="%(message)s", handlers=[RichHandler(console=console)]
    )
    log = logging.getLogger("train")
    table = Table("layer", "device", "params", title="Placement")
    for row in (("embed", "cuda:0", "1.2 M"), ("layers", "cuda:1", "8 M"), ("head", "cpu", "1 M")):
        table.add_row(*row)
    console.print(table)
    for step in track(range(3), "training", console=console):
        log.info("step %d: loss [bold]%.3f[/], no NaN found", step, 1 / (step + 1))
    log.warning("head stays on cpu, inputs are moved there")


globals()[sys.argv[1]]()
