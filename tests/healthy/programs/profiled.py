"""torch.profiler's table on the CPU."""

import torch
from torch.profiler import ProfilerActivity, profile

model = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.ReLU())
with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA], record_shapes=True) as prof:
    model(torch.ones(8, 64)).sum().backward()
print(prof.key_averages().table(sort_by="cpu_time_total", row_limit=8))
print(torch.__config__.parallel_info())
