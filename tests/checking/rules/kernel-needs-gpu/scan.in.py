import torch
from mamba_ssm.ops.selective_scan_interface import selective_scan_fn

B, D, L, N = 1, 4, 8, 2
u, delta = torch.randn(B, D, L, device="cuda"), torch.rand(B, D, L, device="cuda")
A = -torch.rand(D, N)  # finds: kernel-needs-gpu
Bm, C = torch.randn(B, N, L, device="cuda"), torch.randn(B, N, L, device="cuda")
print(selective_scan_fn(u, delta, A, Bm, C).shape)
