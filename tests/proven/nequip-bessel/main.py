import torch
from atoms.embedding import EdgeEmbedding
from atoms.training import Trainer

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = torch.nn.Sequential(EdgeEmbedding(r_max=3.0, trainable=False), torch.nn.Linear(8, 1))
trainer = Trainer(model, device)
print(trainer.train(torch.rand(8, 5) + 0.5))
