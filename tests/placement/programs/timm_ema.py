# devices: cuda:0,cpu
# causes: module-not-moved
import timm
import torch
from timm.utils import ModelEmaV2

def build(args):
    model = timm.create_model(args.model, num_classes=10)
    model.cuda()
    return model

def validate(model, loader):
    model.eval()
    with torch.no_grad():
        for x, y in loader:
            out = model(x.cuda())  # fails
    return out

def main(args, loader):
    model = build(args)
    ema = ModelEmaV2(model, decay=0.999, device="cpu")  # here
    for x, y in loader:
        loss = model(x.cuda()).sum()
        loss.backward()
        ema.update(model)
    return validate(ema.module, loader)
main(None, None)
