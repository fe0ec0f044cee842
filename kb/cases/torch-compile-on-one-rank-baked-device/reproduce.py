"""A graph that one rank has traced for all names that rank's GPU.

Needs torch and two GPUs. ``python reproduce.py failing`` ends in the device error,
``python reproduce.py fixed`` asks for the current GPU when the graph runs and prints "fixed: ok".
``compile_on_one_rank`` plays make_fx: what is constant while it traces is constant in the graph.
"""

import sys

import torch


def compile_on_one_rank(example, variant):
    traced_on = example.device

    def graph(x):
        device = traced_on
        if variant == "fixed":
            device = torch.device("cuda", torch.accelerator.current_device_index())
        zeros = torch.zeros(4, x.shape[1], device=device)
        return torch.cat([x, zeros])

    return graph


def main(variant):
    graph = compile_on_one_rank(torch.randn(2, 3, device="cuda:0"), variant)
    for rank in (0, 1):
        with torch.accelerator.device_index(rank):
            x = torch.randn(2, 3, device="cuda")
            print(rank, graph(x).device)
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
