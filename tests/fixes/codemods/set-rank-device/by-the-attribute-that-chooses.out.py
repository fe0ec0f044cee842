# spot: self.model.cuda()
# devices:
import os


class Trainer:
    def __init__(self):
        self.rank, self.world = int(os.environ.get("LOCAL_RANK", 0)), int(os.environ["WORLD_SIZE"])
        self.device = torch.device(f"cuda:{self.rank}")
        self.model.cuda(self.rank)
