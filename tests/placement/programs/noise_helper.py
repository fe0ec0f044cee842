# devices: cuda:0,cpu
# causes: created-without-device,input-not-moved
import torch
from diffusers import DDPMScheduler, UNet2DModel

def draw(shape, seed):
    torch.manual_seed(seed)
    return torch.randn(shape)

class Sampler:
    def __init__(self, unet, device):
        self.unet, self.device = unet.to(device), device
        self.sched = DDPMScheduler(num_train_timesteps=10)

    def run(self, n):
        x = draw((n, 3, 8, 8), 0)  # here
        for t in self.sched.timesteps:
            eps = self.unet(x, t).sample  # fails
            x = self.sched.step(eps, t, x).prev_sample
        return x

Sampler(UNet2DModel(sample_size=8), torch.device("cuda")).run(2)
