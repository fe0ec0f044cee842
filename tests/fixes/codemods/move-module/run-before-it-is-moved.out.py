# spot: sizes(net)
# cause: kernel-needs-gpu
# owner: net
# move: net.to(device, torch.float16)
def main(device):
    net = Net()
    net.to(device)
    print(sizes(net))
    train(net.to(device, torch.float16))
