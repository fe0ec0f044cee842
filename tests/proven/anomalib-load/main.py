"""Tests a detector, whose weights a GPU wrote, where there is no GPU."""

import os
from pathlib import Path

os.environ["CUDA_VISIBLE_DEVICES"] = ""

import torch
from spotter.loading import RestoreWeights
from spotter.running import Runner

model = torch.nn.Linear(4, 2)
runner = Runner([RestoreWeights(Path(__file__).with_name("weights.pt"))])
print(runner.test(model, torch.ones(3, 4)))
