import torch
from voices.embedding import VoiceEmbedding

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
embed = VoiceEmbedding(device=device)
waves = torch.randn(3, 1, 400)
masks = torch.tensor([[1.0, 1.0, 0.0, 1.0], [1.0, 1.0, 1.0, 1.0], [0.0, 0.0, 1.0, 0.0]])
print(embed(waves.to(device), masks=masks.to(device)))
