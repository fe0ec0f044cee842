import torch


def sample(model, ids, n, device):
    g = torch.Generator(device=device)  # finds: generator-device
    g.manual_seed(1)
    for _ in range(n):
        probs = model(ids).softmax(-1)
        nxt = torch.multinomial(probs[:, -1], 1, generator=g)
        ids = torch.cat([ids, nxt], dim=1)
    return ids


device = torch.device("cuda")
lm = torch.nn.Sequential(torch.nn.Embedding(9, 4), torch.nn.Linear(4, 9)).to(device)
print(sample(lm, torch.zeros(1, 1, dtype=torch.long, device=device), 2, device))
