import torch
import torch.nn as nn

net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
net.eval()
torch.quantization.quantize_dynamic(net, {nn.Linear}, inplace=True)
net.cuda()  # finds: quantized-placement
print(net(torch.rand(2, 4, device="cuda")))
