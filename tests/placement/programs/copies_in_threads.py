# devices: cuda:1,cuda:0
# causes: hardcoded-device
import queue
import threading

import torch
from torch import nn


class Scale(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("by", torch.full((1, 4), 0.5))

    def forward(self, x):
        return x * self.by  # fails


class Copy:
    def __init__(self, device):
        self.device = device
        self.net = nn.Linear(4, 2).to(device)
        self.scale = Scale().cuda()  # here
        self.asked, self.given = queue.Queue(), queue.Queue()

    def serve(self, rounds):
        for _ in range(rounds):
            x = torch.tensor(self.asked.get()).to(self.device)
            self.given.put(self.net(self.scale(x)).tolist())


class Desk:
    def __init__(self, devices):
        self.copies = [Copy(device) for device in devices]
        self.threads = [threading.Thread(target=one.serve, args=(1,)) for one in self.copies]

    def ask(self, x):
        for one, thread in zip(self.copies, self.threads):
            one.asked.put(x)
            thread.start()
        for thread in self.threads:
            thread.join()


Desk([f"cuda:{n}" for n in range(torch.cuda.device_count())]).ask([[1.0, 2.0, 3.0, 4.0]])
