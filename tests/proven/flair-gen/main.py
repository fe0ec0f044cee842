import torch
import writer
from writer.model import Writer

if torch.cuda.device_count() > 1:
    writer.device = torch.device("cuda:1")

text, log_prob = Writer("\nabcde").write(length=8)
print(repr(text), log_prob)
