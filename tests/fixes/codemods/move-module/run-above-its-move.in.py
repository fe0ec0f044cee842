# spot: pack(net)
# cause: kernel-needs-gpu
# owner: net
# move: net.cuda()
def main():
    net = Net()
    pack(net)
    net.cuda()  # for the kernels
    net.eval()
