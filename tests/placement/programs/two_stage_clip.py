# devices: cuda:0,cpu
# causes: module-not-moved
import torch
from transformers import CLIPModel, CLIPProcessor
from torch import nn

DEVICE = "cuda:0"
clip = CLIPModel.from_pretrained("openai/clip-vit-base-patch32").to(DEVICE)
proc = CLIPProcessor.from_pretrained("openai/clip-vit-base-patch32")
probe = nn.Linear(512, 10)  # here
opt = torch.optim.SGD(probe.parameters(), lr=1e-2)

def step(images, labels):
    inputs = proc(images=images, return_tensors="pt").to(DEVICE)
    with torch.no_grad():
        feats = clip.get_image_features(**inputs)
    logits = probe(feats)  # fails
    loss = nn.functional.cross_entropy(logits, labels.to(DEVICE))
    loss.backward()
    opt.step()
step([None], torch.tensor([1]))
