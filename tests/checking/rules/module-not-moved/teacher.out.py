import torch
import torch.nn as nn
import torch.nn.functional as F


def make(width):
    return nn.Sequential(nn.Linear(5, width), nn.ReLU(), nn.Linear(width, 3))


def distil(device):
    student = make(4).to(device)
    teacher = make(16).to(device)  # finds: module-not-moved
    teacher.eval()
    opt = torch.optim.Adam(student.parameters())
    for _ in range(2):
        x = torch.rand(8, 5, device=device)
        with torch.no_grad():
            t = teacher(x)
        loss = F.kl_div(student(x).log_softmax(1), t.softmax(1), reduction="batchmean")
        opt.zero_grad()
        loss.backward()
        opt.step()


distil(torch.device("cuda:0"))
