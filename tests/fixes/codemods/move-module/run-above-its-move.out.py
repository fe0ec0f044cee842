# spot: pack(net)
# cause: kernel-needs-gpu
# owner: net
# move: net.cuda()
def main():
    net = Net()
    net.cuda()  # for the kernels
    pack(net)
    net.eval()
