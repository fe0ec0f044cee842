# devices: cuda:0,cpu
# causes: optimizer-state
import torch
from torch import nn

def main(args):
    device = torch.device("cuda")
    model = nn.Linear(4, 2)  # here
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    if args.resume:
        ckpt = torch.load(args.resume, map_location="cpu")
        model.load_state_dict(ckpt["model"])
        optimizer.load_state_dict(ckpt["optimizer"])
    model.to(device)
    for _ in range(2):
        x = torch.randn(2, 4, device=device)
        loss = model(x).sum()
        optimizer.zero_grad(); loss.backward()
        optimizer.step()  # fails
main(None)
