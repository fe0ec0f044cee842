import torch
from torch import nn

class Rating(nn.Module):
    def __init__(self, words=40):
        super().__init__()
        self.bag = nn.EmbeddingBag(words, 8)
        self.stars = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 5))
    def forward(self, ids):
        return self.stars(self.bag(ids))

rating = Rating().eval()
small = torch.ao.quantization.quantize_dynamic(rating, {nn.Linear}, dtype=torch.qint8)
ids = torch.randint(40, (3, 6))
print(small(ids).argmax(-1))
small = small.to("cuda")  # finds: quantized-placement
print(small(ids.cuda()).argmax(-1))
