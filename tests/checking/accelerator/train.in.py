import os

import torch
import torch.nn as nn
from torch.cuda import synchronize

rank = int(os.environ.get("LOCAL_RANK", 1))
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
second = torch.device(f"cuda:{rank}")
BACKENDS = ["cuda", 'mps']  # a list of words
if torch.cuda.is_available() and BACKENDS:
    home_device = 'cuda:0'


class Scaled(nn.Module):
    def __init__(self, device="cuda"):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.register_buffer("scale", torch.ones(4, device="cuda"))

    def forward(self, x):
        return self.fc(x) * self.scale  # on "cuda"


def main(seed=0):
    torch.cuda.set_device(rank)  # this process's own
    torch.cuda.manual_seed_all(seed)
    model = Scaled().cuda()
    other = (nn.Linear(4, 4)
             .cuda(0))
    x = torch.ones(2, 4).cuda(non_blocking=True)
    y = torch.ones(2, 4).to("cuda:0").to("cuda"); z = torch.ones(2, 4).cuda(rank)
    try:
        with torch.autocast("cuda", enabled=False):
            print((model(x) + y + z).device, other.weight.device, torch.cuda.current_device())
    except torch.cuda.OutOfMemoryError:
        torch.cuda.empty_cache()
    synchronize()
    torch.cuda.synchronize(device=device)
    print(device == torch.device("cuda"), second, home_device, torch.cuda.memory_allocated())
    print(torch.cuda.get_device_name(0), *map(str, {"cuda": torch.cuda.device_count()}.items()))


main()
