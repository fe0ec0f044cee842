import torch
import torchvision.transforms.functional as F
from torch import nn


class Erase(nn.Module):
    def forward(self, pictures):
        pictures = pictures.contiguous()
        width, _ = F.get_image_size(pictures)
        left = torch.randint(0, 8, (1,))  # finds: created-without-device
        right = left + width
        return pictures[..., : int(torch.maximum(left, right))]
