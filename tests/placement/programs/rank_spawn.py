# devices: cuda:1,cuda:0
# causes: rank-device,hardcoded-device,input-not-moved
import torch
import torch.multiprocessing as mp
from torch import nn

def worker(rank, world):
    model = nn.Linear(3, 3).to(rank)
    crit = nn.CrossEntropyLoss(weight=torch.ones(3).to("cuda:0"))  # here
    x = torch.rand(2, 3).to(rank)
    y = torch.tensor([0, 1]).to(rank)
    print(crit(model(x), y))  # fails

if __name__ == "__main__":
    mp.spawn(worker, args=(2,), nprocs=2)
