import numpy as np
import torch
from heatmaps.cam import Cam
from heatmaps.targets import MaskedCategory

model = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3, padding=1), torch.nn.Conv2d(4, 2, 1)).eval()
image = torch.randn(1, 3, 8, 8)
mask = (model(image)[0].argmax(dim=0) == 1).numpy().astype(np.float32)
cam = Cam(model, model[0])
print(cam(image, [MaskedCategory(1, mask)]).shape)
