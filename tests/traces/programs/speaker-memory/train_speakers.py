import torch
from speaker_net import SpeakerNet
from torch import nn

torch.manual_seed(3)
net = SpeakerNet(mel_bins=20, width=16, speakers=10).cuda()
net.reset_memory("cuda:0")
if torch.cuda.device_count() > 1:
    print("Let's use", torch.cuda.device_count(), "GPUs!")
    net = nn.DataParallel(net)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)

for _ in range(5):
    mels = torch.randn(8, 50, 20).cuda()
    speakers = torch.randint(10, (8,)).cuda()
    similarity = net(mels)
    loss = nn.functional.cross_entropy(similarity / 0.1, speakers)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
