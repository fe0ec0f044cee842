import torch
from boxes import BoxHead


def test_a_box_for_each_anchor():
    head = BoxHead(channels=8, cells=4)
    assert head(torch.rand(2, 8, 4, 4)).shape == (2, 48, 4)


def test_boxes_on_the_gpu():
    head = BoxHead(channels=8, cells=4).cuda()
    maps = torch.rand(2, 8, 4, 4).cuda()
    boxes = head(maps)
    assert boxes.is_cuda
