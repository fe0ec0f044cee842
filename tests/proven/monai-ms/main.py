import torch
from aligning.losses import ScalesLoss

device = torch.device("cuda:0" if torch.cuda.is_available() else "cpu")
net = torch.nn.Conv3d(1, 1, 3, padding=1).to(device)
loss_function = ScalesLoss(torch.nn.MSELoss(), scales=[0, 1, 2], kernel="gaussian")
moving, fixed = torch.rand(2, 1, 6, 6, 6).to(device), torch.rand(2, 1, 6, 6, 6).to(device)
loss = loss_function(fixed, net(moving))
loss.backward()
print(loss.item())
