"""A background transfer of the last run moves a block to the cpu after the next run has begun.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` waits for transfers first and prints "fixed: ok". What is a matter of
luck in the real program is made certain here: the transfer waits until the next run has prepared.
"""

import sys
from concurrent.futures import ThreadPoolExecutor
from threading import Event

import torch
from torch import nn


class ModelOffloader:
    def __init__(self, variant):
        self.variant = variant
        self.thread_pool = ThreadPoolExecutor(max_workers=1)
        self.futures = []

    def submit_move_blocks_forward(self, block, may_start):
        def move_blocks():
            may_start.wait(timeout=0.2)
            return [(p, p.data.cpu()) for p in block.parameters()]

        self.futures.append(self.thread_pool.submit(move_blocks))

    def finish(self):
        for future in self.futures:
            for parameter, weight in future.result():
                parameter.data = weight
        self.futures.clear()

    def prepare_block_devices_before_forward(self, blocks):
        if self.variant == "fixed":
            self.finish()
        for block in blocks:
            block.to("cuda")


def main(variant):
    blocks = nn.ModuleList([nn.Linear(8, 8, bias=False) for _ in range(3)])
    offloader = ModelOffloader(variant)
    prepared = Event()
    for _ in ("first prompt", "second prompt"):
        offloader.prepare_block_devices_before_forward(blocks)
        prepared.set()
        offloader.finish()  # a late transfer of the prompt before ends here
        hidden = torch.randn(1, 8, device="cuda")
        with torch.no_grad():
            for block in blocks:
                hidden = block(hidden)
        prepared = Event()
        offloader.submit_move_blocks_forward(blocks[1], prepared)
    prepared.set()
    offloader.thread_pool.shutdown()
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
