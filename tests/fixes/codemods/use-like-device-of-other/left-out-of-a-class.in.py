# cause: hardcoded-device
# spot: Memory(20)
# devices: self.place
import torch


class Memory:
    def __init__(self, size, place="cuda"):
        self.size, self.place = size, place


class Player:
    def __init__(self, net, place):
        self.place = place
        self.net = net.to(self.place)
        self.memory = Memory(20)
