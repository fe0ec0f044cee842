import torch

device = torch.device("cuda")
model = torch.jit.load("recognizer.pt").to(device)
ids = torch.zeros(1, 2, dtype=torch.long, device=device)
need_pad = torch.tensor([False])  # finds: input-not-moved
print(model.decoder(ids, need_pad=need_pad).shape)
