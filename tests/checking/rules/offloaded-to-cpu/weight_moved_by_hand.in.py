import torch
from accelerate import dispatch_model
from torch import nn

class Menu(nn.Module):
    def __init__(self, dishes=30, d=8):
        super().__init__()
        self.dish = nn.Embedding(dishes, d)
        self.courses = nn.ModuleList(nn.Linear(d, d) for _ in range(2))
        self.price = nn.Linear(d, dishes, bias=False)
    def forward(self, ids):
        x = self.dish(ids)
        for course in self.courses:
            x = course(x).relu()
        return self.price(x)

places = {"dish": 0, "price": "cpu"}
for n in range(2):
    places[f"courses.{n}"] = 0
menu = dispatch_model(Menu(), device_map=places)
menu._hf_hook.io_same_device = False
ids = torch.tensor([[1, 2, 3]], device="cuda:0")
first = menu(ids)
print(menu.dish.weight.to("cuda:1").shape)
table = menu.price.weight.detach().to(first.device)  # finds: offloaded-to-cpu
print((menu.dish(ids) @ table.T).argmax(-1))
