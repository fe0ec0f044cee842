"""A part of the request is not in the model's list of what goes to the GPU, and stays on the cpu.

Needs torch and one GPU. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` lists it as the sibling model does and prints "fixed: ok".
"""

import sys

import torch

IMAGE_PATHS = ["image.pixel_values"]
MROPE_PATHS = ["mrope_config.mrope_position_ids", "mrope_config.mrope_position_deltas"]


class MultimodalParams:
    def __init__(self, **data):
        self.data = data

    def to_device(self, device, target_keywords):
        """Move what the paths name; everything else stays where the preprocessing left it."""
        for path in target_keywords:
            *parents, leaf = path.split(".")
            holder = self.data
            for parent in parents:
                holder = holder.get(parent, {})
            if torch.is_tensor(holder.get(leaf)):
                holder[leaf] = holder[leaf].to(device, non_blocking=True)


class QwenImageBenchModel:
    def __init__(self, variant, slots=4):
        self.paths = IMAGE_PATHS + (MROPE_PATHS if variant == "fixed" else [])
        self.delta_cache = torch.zeros(slots, dtype=torch.long, device="cuda")

    def prepare_mrope_config(self, requests, seq_slots):
        deltas = [r.data["mrope_config"]["mrope_position_deltas"] for r in requests]
        self.delta_cache.index_copy_(0, seq_slots, torch.cat(deltas))

    def forward(self, requests, seq_slots):
        for request in requests:
            request.to_device("cuda", self.paths)
        self.prepare_mrope_config(requests, seq_slots)


def text_only_request(length):
    mrope = {
        "mrope_position_ids": torch.arange(length).expand(3, -1),
        "mrope_position_deltas": torch.zeros(1, dtype=torch.long),
    }
    return MultimodalParams(mrope_config=mrope)


def main(variant):
    model = QwenImageBenchModel(variant)
    # The dummy requests with which the capacity of the KV cache is estimated.
    requests = [text_only_request(8), text_only_request(8)]
    model.forward(requests, torch.tensor([2, 0], device="cuda"))
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
