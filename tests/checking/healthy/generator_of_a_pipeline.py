import torch
from diffusers import DDPMPipeline, DDPMScheduler, UNet2DModel

unet = UNet2DModel(
    sample_size=8,
    block_out_channels=(8,),
    norm_num_groups=4,
    down_block_types=("DownBlock2D",),
    up_block_types=("UpBlock2D",),
)
pipe = DDPMPipeline(unet, DDPMScheduler(num_train_timesteps=5)).to("cuda")
images = pipe(batch_size=1, generator=torch.Generator().manual_seed(0), num_inference_steps=2)
