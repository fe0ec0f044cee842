import torch
from network import TabTransformer


def fit(model, steps, device):
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-4)
    for step in range(steps):
        audio = torch.randn(2, 60, 84, device=device)
        frets = torch.randint(20, (2, 60, 6), device=device)
        logits = model(audio).unflatten(-1, (6, 20))
        loss = torch.nn.functional.cross_entropy(logits.flatten(0, 2), frets.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"step {step}: {loss.item():.3f}")


if __name__ == "__main__":
    device = torch.device("cuda")
    fit(TabTransformer(features=84).to(device), steps=3, device=device)
