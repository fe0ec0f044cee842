import argparse
import torch
import torch.nn as nn

p = argparse.ArgumentParser()
p.add_argument("--gpus", type=int, nargs="+", default=[1, 2])
args = p.parse_args([])
model = nn.Sequential(nn.Linear(5, 5), nn.ReLU())
model = nn.DataParallel(model.cuda(), device_ids=args.gpus)  # finds: dataparallel-home-device
print(model(torch.rand(6, 5).cuda()))
