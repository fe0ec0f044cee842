import torch
from torch import nn

model = nn.Linear(4, 3).cuda()
criterion = nn.CrossEntropyLoss()
wanted = torch.tensor([0, 2]).to(next(model.parameters()).device)  # finds: input-not-moved
scores = model(torch.rand(2, 4).cuda())
print(criterion(input=scores, target=wanted).item())
