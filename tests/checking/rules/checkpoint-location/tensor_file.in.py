import torch

device = torch.device("cuda")
torch.save(torch.rand(5, 3), "embeddings.pt")
table = torch.load("embeddings.pt")  # finds: checkpoint-location
net = torch.nn.Linear(3, 3).to(device)
ids = torch.tensor([0, 2]).to(device)
print(net(table[:2].float()))
