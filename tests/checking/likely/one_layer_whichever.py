import torch
from torchvision.models import vgg16

layers = vgg16().features  # finds: module-not-moved
x = torch.rand(1, 3, 64, 64).cuda()
for layer in layers._modules.values():
    x = layer(x)
print(x.shape)
