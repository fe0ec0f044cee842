# devices: cpu,cuda:0
# causes: generator-device
import torch
from diffusers import UNet2DModel

def sample(unet, n, seed):
    gen = torch.Generator().manual_seed(seed)  # here
    x = torch.randn((n, 3, 8, 8), generator=gen, device=unet.device)  # fails
    return unet(x, 0).sample

unet = UNet2DModel().to("cuda")
sample(unet, 2, 0)
