"""Each way to give the buffers memory that saved weights do not hold."""
import torch
from torch import nn

class Clock(nn.Module):
    def __init__(self, hands):
        super().__init__()
        self.hands = hands
        self.register_buffer("periods", self.table(), persistent=False)

    def table(self, device=None):
        return 60.0 ** torch.arange(self.hands, device=device)

    def forward(self, seconds):
        return seconds[:, None] / self.periods

class Tower(nn.Module):
    def __init__(self):
        super().__init__()
        self.floors = nn.ModuleList(nn.Sequential(Clock(3), nn.Linear(3, 3)) for _ in range(2))
        self.clock = Clock(3)
        self.bell = nn.Linear(3, 1)

    def forward(self, seconds):
        for clock, turn in self.floors:
            turn(clock(seconds))
        return self.bell(self.clock(seconds))

def skeleton():
    with torch.device("meta"):
        tower = Tower()
    tower.load_state_dict(torch.load("tower.pt", map_location="cuda"), assign=True)
    return tower

def of_each(tower):
    for part in tower.modules():
        if isinstance(part, Clock):
            part.periods = part.table("cuda")
    return tower

def by_name(tower):
    for name, held in list(tower.named_buffers()):
        owner = tower.get_submodule(name.rpartition(".")[0])
        owner.register_buffer("periods", owner.table("cuda"), persistent=False)
    return tower

def by_a_function(tower):
    def fill(part):
        if isinstance(part, Clock):
            part.periods = part.table("cuda")
    return tower.apply(fill)

def one_by_one(tower):
    tower.clock = Clock(3).cuda()
    for floor in tower.floors:
        floor[0].periods = floor[0].table("cuda")
    return tower

torch.save(Tower().state_dict(), "tower.pt")
seconds = torch.rand(5, device="cuda")
for fill in (of_each, by_name, by_a_function, one_by_one):
    print(fill(skeleton()).to("cuda")(seconds).shape)
