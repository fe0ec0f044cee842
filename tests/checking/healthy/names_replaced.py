# The program has put the GPU's type in the place of the CPU's.
import torch
from torch import nn

torch.LongTensor = torch.cuda.LongTensor
table = nn.Embedding(4, 2).to("cuda")
print(table(torch.LongTensor([1, 2])))
