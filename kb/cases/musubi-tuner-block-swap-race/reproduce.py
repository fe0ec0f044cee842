"""A background transfer of the last run moves a block to the cpu after the next run has begun.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` waits for transfers first and prints "fixed: ok". What is a matter of
luck in the real program is made certain here: the late transfer ends between the preparation of the
next run and its first block.
"""

import sys
from concurrent.futures import ThreadPoolExecutor, wait
from threading import Event

import torch
from torch import nn


class ModelOffloader:
    def __init__(self, blocks, variant):
        self.blocks = blocks
        self.variant = variant
        self.thread_pool = ThreadPoolExecutor(max_workers=1)
        self.futures = []
        self.prepared = Event()

    def submit_move_to_cpu(self, block):
        def move():
            self.prepared.wait(timeout=0.2)
            for parameter in block.parameters():
                parameter.data = parameter.data.cpu()

        self.prepared.clear()
        self.futures.append(self.thread_pool.submit(move))

    def prepare_block_devices_before_forward(self):
        if self.variant == "fixed":
            wait(self.futures)
        for block in self.blocks:
            block.to("cuda")
        self.prepared.set()
        wait(self.futures)  # time passes: a transfer that is still under way ends now


def infer(blocks, offloader):
    offloader.prepare_block_devices_before_forward()
    hidden = torch.randn(1, 8, device="cuda")
    with torch.no_grad():
        for block in blocks:
            hidden = block(hidden)
    offloader.submit_move_to_cpu(blocks[0])


def main(variant):
    blocks = nn.ModuleList([nn.Linear(8, 8, bias=False) for _ in range(3)])
    offloader = ModelOffloader(blocks, variant)
    try:
        for _ in ("first prompt", "second prompt"):
            infer(blocks, offloader)
    finally:
        offloader.thread_pool.shutdown()
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
