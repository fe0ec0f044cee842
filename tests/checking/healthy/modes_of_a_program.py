# Two functions of which an option calls one: neither sees where the other brought the model.
import argparse

import torch
from torch import nn

scorer = nn.Linear(3, 1)


def fit():
    scorer.cuda()
    print(scorer(torch.rand(4, 3, device="cuda")).sum())


def dump():
    print(scorer(torch.rand(4, 3)))


options = argparse.ArgumentParser()
options.add_argument("--task", default="fit")
task = options.parse_args().task
if task == "fit":
    fit()
elif task == "dump":
    dump()
