# devices: cuda:1,cuda:0
# causes: hardcoded-device,module-not-moved
import torch
from transformers import CLIPTextModel, CLIPVisionModel

def build(device):
    text = CLIPTextModel.from_pretrained("c").to(device)
    vision = CLIPVisionModel.from_pretrained("c").cuda()  # here
    return text, vision

device = torch.device("cuda:1")
text, vision = build(device)
pix = torch.rand(1, 3, 224, 224).to(device)
v = vision(pixel_values=pix).pooler_output  # fails
