import torch
from sklearn.utils import indexable

rows = torch.rand(20, 3).cuda()  # finds: host-copy-needed
kept = indexable(rows)
