# spot: Net(width=8)
# cause: kernel-needs-gpu
# devices: ;
# wanted: cuda
net = Net(width=8).to("cuda").eval()
print(net(torch.rand(2, 8)))
