"""Writes text, letter by letter."""

import torch

#: Where all models are.
device = torch.device("cuda:0" if torch.cuda.is_available() else "cpu")
