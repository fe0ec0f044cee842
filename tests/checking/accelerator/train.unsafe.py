import os

import torch
import torch.nn as nn
from torch.cuda import synchronize

rank = int(os.environ.get("LOCAL_RANK", 1))
device = torch.device(torch.accelerator.current_accelerator().type if torch.accelerator.is_available() else "cpu")
second = torch.device(f"{torch.accelerator.current_accelerator().type}:{rank}")
BACKENDS = ["cuda", 'mps']  # a list of words
if torch.accelerator.is_available() and BACKENDS:
    home_device = f'{torch.accelerator.current_accelerator().type}:0'


class Scaled(nn.Module):
    def __init__(self, device=torch.accelerator.current_accelerator().type):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.register_buffer("scale", torch.ones(4, device=torch.accelerator.current_accelerator().type))

    def forward(self, x):
        return self.fc(x) * self.scale  # on "cuda"


def main(seed=0):
    torch.accelerator.set_device_index(rank)  # this process's own
    torch.cuda.manual_seed_all(seed)
    model = Scaled().to(torch.accelerator.current_accelerator())
    other = (nn.Linear(4, 4)
             .to(0))
    x = torch.ones(2, 4).to(torch.accelerator.current_accelerator(), non_blocking=True)
    y = torch.ones(2, 4).to(f"{torch.accelerator.current_accelerator().type}:0").to(torch.accelerator.current_accelerator().type); z = torch.ones(2, 4).to(rank)
    try:
        with torch.autocast(torch.accelerator.current_accelerator().type, enabled=False):
            print((model(x) + y + z).device, other.weight.device, torch.accelerator.current_device_index())
    except torch.OutOfMemoryError:
        torch.accelerator.empty_cache()
    torch.accelerator.synchronize()
    torch.accelerator.synchronize(device)
    print(device == torch.accelerator.current_accelerator(), second, home_device, torch.accelerator.memory_allocated())
    print(torch.cuda.get_device_name(0), *map(str, {"cuda": torch.accelerator.device_count()}.items()))


main()
