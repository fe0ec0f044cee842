"""A kernel is launched on the current GPU with pointers to another one.

Needs torch and two GPUs. ``python reproduce.py failing`` ends in the launcher's error,
``python reproduce.py fixed`` makes the data's GPU the current one and prints "fixed: ok".
``CudaLauncher`` makes Triton's check: memory of a GPU that is not current cannot be reached
(unless peer access is on).
"""

import sys

import torch


class CudaLauncher:
    def __call__(self, *args):
        current = torch.cuda.current_device()
        for position, arg in enumerate(args):
            if torch.is_tensor(arg) and arg.get_device() != current:
                raise ValueError(
                    f"Pointer argument (at {position}) cannot be accessed from Triton (cpu tensor?)"
                )


def triton_quantize_along_last_dim(data, variant):
    mn, mx = torch.empty_like(data[..., 0]), torch.empty_like(data[..., 0])
    launch = CudaLauncher()
    if variant == "fixed":
        with torch.cuda.device(data.device):
            launch(data, mn, mx)
    else:
        launch(data, mn, mx)
    return data.amin(-1), data.amax(-1)


def main(variant):
    key_states = torch.randn(2, 4, 32, device="cuda:1")
    triton_quantize_along_last_dim(key_states, variant)
    print(f"{variant}: ok")


if __name__ == "__main__":
    main(sys.argv[1])
