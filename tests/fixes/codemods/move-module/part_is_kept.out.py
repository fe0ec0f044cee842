# cause: module-not-moved
# spot: vgg16(weights=None)
# devices: device
from torchvision.models import vgg16


class Texture:
    def __init__(self, device):
        self.layers = vgg16(weights=None).features[:9].eval().to(device)
