# devices: cpu,cuda:0
# causes: checkpoint-location,module-not-moved,input-not-moved
import sys
import torch

def predict(path, x):
    net = torch.load(path, weights_only=False)  # here
    net.eval()
    with torch.no_grad():
        return net(x).argmax(1)  # fails

print(predict(sys.argv[1], torch.rand(1, 3, 8, 8)))
