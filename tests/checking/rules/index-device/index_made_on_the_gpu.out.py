import torch

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
data = torch.rand(100, 4)
model = torch.nn.Linear(4, 1).to(device)
for _ in range(2):
    idx = torch.randint(0, 100, (8,), device="cpu")
    batch = data[idx].to(device)  # finds: index-device
    print(model(batch).mean())
