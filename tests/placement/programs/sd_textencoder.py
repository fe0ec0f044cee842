# devices: cpu,cuda:0
# causes: module-not-moved
import torch
from diffusers import AutoencoderKL, DDPMScheduler, UNet2DConditionModel
from transformers import CLIPTextModel, CLIPTokenizer

def main(args):
    tokenizer = CLIPTokenizer.from_pretrained(args.model, subfolder="tokenizer")
    text_encoder = CLIPTextModel.from_pretrained(args.model, subfolder="text_encoder")
    vae = AutoencoderKL.from_pretrained(args.model, subfolder="vae")
    unet = UNet2DConditionModel.from_pretrained(args.model, subfolder="unet")
    device = torch.device("cuda")
    vae.to(device)
    unet.to(device)  # here
    for batch in args.loader:
        latents = vae.encode(batch["pixel_values"].to(device)).latent_dist.sample()
        ids = tokenizer(batch["text"], return_tensors="pt", padding=True).input_ids.to(device)
        ctx = text_encoder(ids)[0]  # fails
        noise = torch.randn_like(latents)
        pred = unet(latents, 3, ctx).sample
main(None)
