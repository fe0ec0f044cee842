# devices: cuda:1,cuda:0
# causes: input-on-wrong-shard,cross-shard-op
import torch
import torch.nn as nn
from torchvision.models import resnet50

class ModelParallelResNet(nn.Module):
    def __init__(self):
        super().__init__()
        m = resnet50(num_classes=10)
        self.seq1 = nn.Sequential(m.conv1, m.bn1, m.relu, m.maxpool, m.layer1, m.layer2).to("cuda:0")
        self.seq2 = nn.Sequential(m.layer3, m.layer4, m.avgpool).to("cuda:1")
        self.fc = m.fc.to("cuda:1")

    def forward(self, x):
        x = self.seq2(self.seq1(x))  # fails # here
        return self.fc(x.view(x.size(0), -1))

model = ModelParallelResNet()
out = model(torch.rand(2, 3, 64, 64).to("cuda:0"))
