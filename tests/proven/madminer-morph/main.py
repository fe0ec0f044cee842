import numpy as np
import torch
from ratios.morphing import MorphingRatio

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
components = np.array([[0.0], [1.0], [2.0]], dtype=np.float32)
matrix = np.eye(3, dtype=np.float32)
model = MorphingRatio(components, matrix, observables=4, hidden=8)
model = model.to(device)
model.eval()

theta, x = torch.rand(5, 1).to(device), torch.randn(5, 4).to(device)
s_hat, log_r_hat, t_hat = model(theta, x)
print(s_hat.shape, log_r_hat.shape, t_hat.shape)
