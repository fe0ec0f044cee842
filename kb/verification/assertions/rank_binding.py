import torch


def assertion(values, where):
    """What this process has on a GPU is on its own, the current device."""
    own = torch.device("cuda", torch.cuda.current_device())
    for found in where.values():
        if found.keys() - {str(own), "cpu"}:
            return f"FAIL: {found}, this process's GPU is {own}: torch.cuda.set_device"
