# spot: Net(width=8)
# cause: kernel-needs-gpu
# devices: ;
# wanted: cuda
net = Net(width=8).eval()
print(net(torch.rand(2, 8)))
