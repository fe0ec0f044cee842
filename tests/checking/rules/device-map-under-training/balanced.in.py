from transformers import AutoModelForSequenceClassification
import torch
from torch import nn

def load(name, parallel):
    net = AutoModelForSequenceClassification.from_pretrained(name, device_map="balanced")
    if parallel:
        net = nn.DataParallel(net, device_ids=[0, 1])
    return net

net = load("distilbert-base-uncased", parallel=True)  # finds: device-map-under-training
print(net(torch.ones(4, 7, dtype=torch.long, device="cuda:0")).logits)
