import torch
from vae import SensorVAE, elbo


def run_experiment(epochs=2, batch_size=16):
    device = "cuda" if torch.cuda.is_available() else "cpu"
    vae = SensorVAE().to(device)
    optimizer = torch.optim.Adam(vae.parameters())
    for epoch in range(epochs):
        window = torch.randn(batch_size, 64).to(device)
        decoded, mu, logvar = vae(window)
        loss = elbo(window, decoded, mu, logvar)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"[epoch {epoch}] elbo {-loss.item():.2f}")


if __name__ == "__main__":
    run_experiment()
