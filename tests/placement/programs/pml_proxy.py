# devices: cuda:0,cpu
# causes: loss-or-metric-state
import timm
import torch
from pytorch_metric_learning import losses, miners

trunk = timm.create_model("resnet18", num_classes=0).cuda()
loss_func = losses.ProxyAnchorLoss(num_classes=10, embedding_size=512)  # here
miner = miners.MultiSimilarityMiner()
opt = torch.optim.AdamW(trunk.parameters())
for x, y in [(torch.rand(4, 3, 32, 32), torch.tensor([0, 1, 2, 3]))]:
    x, y = x.cuda(), y.cuda()
    emb = trunk(x)
    loss = loss_func(emb, y)  # fails
    loss.backward()
