# devices: cuda:0,cpu
# causes: loss-or-metric-state
import torch
from monai.losses import DiceCELoss
from monai.networks.nets import UNet

device = torch.device("cuda:0")
net = UNet(spatial_dims=2, in_channels=1, out_channels=3, channels=(8, 16), strides=(2,)).to(device)
loss_function = DiceCELoss(to_onehot_y=True, softmax=True, weight=torch.tensor([0.2, 1.0, 1.0]))  # here
opt = torch.optim.Adam(net.parameters())
for i in range(2):
    img = torch.rand(1, 1, 32, 32).to(device)
    seg = torch.randint(0, 3, (1, 1, 32, 32)).to(device)
    loss = loss_function(net(img), seg)  # fails
    loss.backward()
