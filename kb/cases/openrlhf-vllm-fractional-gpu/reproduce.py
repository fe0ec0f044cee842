"""A worker is shown a single GPU, since it asked for a fraction, and binds itself to its rank's.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` asks for whole GPUs when there are several workers and prints
"fixed: ok". Ray is left out: what it would show a worker stands in CUDA_VISIBLE_DEVICES of ``env``.
"""

import sys

import torch


def per_worker_gpus(colocate_all_models, tensor_parallel_size, variant):
    shared = colocate_all_models and (variant == "failing" or tensor_parallel_size == 1)
    return 0.2 if shared else 1.0


def ray_worker_env(rank, gpus_per_worker, cards):
    """With a fraction all workers are packed on one card; with 1.0 each has its placement bundle."""
    visible = [cards[0]] if gpus_per_worker < 1 else [cards[rank % len(cards)]]
    return {"RANK": rank, "CUDA_VISIBLE_DEVICES": visible, "WHOLE": gpus_per_worker == 1.0}


class RayWorker:
    def __init__(self, env):
        # A worker with a bundle of its own counts from 0, one of a shared card goes by its rank.
        self.local_rank = 0 if env["WHOLE"] else env["RANK"]

    def init_device(self):
        torch.cuda.set_device(self.local_rank)
        self.weights = torch.randn(8, 8, device="cuda")

    def sleep(self):
        self.weights = self.weights.to("cpu")


def main(variant):
    cards = list(range(torch.cuda.device_count()))
    gpus_per_worker = per_worker_gpus(True, tensor_parallel_size=2, variant=variant)
    for rank in range(len(cards) + 1):
        worker = RayWorker(ray_worker_env(rank, gpus_per_worker, cards))
        worker.init_device()
        worker.sleep()
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
