import torch
from torchvision.models import resnet18
from torchvision.models.feature_extraction import create_feature_extractor

backbone = resnet18().to("cuda:1")
taps = create_feature_extractor(backbone, {"layer2": "mid"})
pictures = torch.rand(2, 3, 64, 64, device="cuda:1")
print(taps(pictures)["mid"].shape)
