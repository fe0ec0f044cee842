import torch
from spectral.losses import SpectralLoss

device = "cuda" if torch.cuda.is_available() else "cpu"
model = torch.nn.Conv1d(2, 2, 9, padding=4).to(device)
criterion = SpectralLoss(fft_size=64, hop=16, length=48).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)

wave, target = torch.randn(2, 2, 256).to(device), torch.randn(2, 2, 256).to(device)
convergence, magnitude = criterion(model(wave), target)
(convergence + magnitude).backward()
optimizer.step()
print(convergence.item(), magnitude.item())
