import io
import sys

import torch

file = io.BytesIO()
torch.save({"mean": torch.ones(2, device="cuda:1")}, file)
file.seek(0)
saved = torch.load(file, map_location="cuda:0" if sys.argv[1] == "fixed" else None)
torch.zeros(2, device="cuda:0") + saved["mean"]
