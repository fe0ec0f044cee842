import torch

device = torch.device("cuda:0" if torch.cuda.is_available() else "cpu")
gen = torch.Generator(device="cpu")  # finds: generator-device
weights = torch.empty(3, 3, device=device)
weights.normal_(generator=gen)
