# cause: device-map-under-training
# spot: Tagger()
# step: gathered Trainer(model=self.net, args=args)
from transformers import Trainer
class Lesson:
    def __init__(self, args):
        self.net = Tagger().halve("cuda:0", "cuda:1")
        self.net.hf_device_map = {name: weight.device.index for name, weight in self.net.named_parameters()}
        self.trainer = Trainer(model=self.net, args=args)
