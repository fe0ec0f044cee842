import torch
from letters.model import Reader

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = Reader(points=4, size=(6, 8), batch_size=4, letters=5)
model = torch.nn.DataParallel(model).to(device)
images = torch.randn(4, 1, 6, 8).to(device)
print(model(images).shape)
