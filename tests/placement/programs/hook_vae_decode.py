# devices: cuda:0,cpu
# causes: offloaded-to-cpu,low-memory-mode,module-not-moved
import torch
from diffusers import AutoencoderKL, UNet2DModel
from accelerate import cpu_offload

def load(device):
    vae = AutoencoderKL(block_out_channels=(8,))
    cpu_offload(vae, execution_device=device)
    return vae

vae = load(torch.device("cuda"))
z = torch.randn(1, 4, 8, 8, device="cuda")
z = z / vae.post_quant_conv.weight.mean()  # fails # here
img = vae.decode(z).sample
