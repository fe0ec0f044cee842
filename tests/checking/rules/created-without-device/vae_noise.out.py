import torch, torch.nn.functional as F


class VAE(torch.nn.Module):
    def __init__(self):
        super(VAE, self).__init__()
        self.enc = torch.nn.Linear(20, 8)
        self.dec = torch.nn.Linear(4, 20)

    def reparameterize(self, mu, logvar):
        std = torch.exp(0.5 * logvar)
        eps = torch.randn(std.size(), device=mu.device)  # finds: created-without-device
        return mu + eps * std

    def forward(self, x):
        mu, logvar = self.enc(x).chunk(2, dim=-1)
        z = self.reparameterize(mu, logvar)
        return self.dec(z), mu, logvar


dev = torch.device("cuda:0")
vae = VAE().to(dev)
opt = torch.optim.Adam(vae.parameters(), lr=1e-3)
for step in range(2):
    batch = torch.rand(5, 20).to(dev)
    recon, mu, logvar = vae(batch)
    loss = F.mse_loss(recon, batch)
    opt.zero_grad(); loss.backward(); opt.step()
