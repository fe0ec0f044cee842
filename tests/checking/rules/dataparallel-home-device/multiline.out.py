import torch

model = torch.nn.DataParallel(  # finds: dataparallel-home-device
    torch.nn.Linear(2, 2).to("cuda:0"),
    device_ids=[0, 1],
    output_device=1,
)
model(torch.ones(4, 2).to("cuda:1"))
