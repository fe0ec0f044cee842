# spot: model.cuda()
# devices:
import os


def world():
    return int(os.environ.get("LOCAL_RANK", -1)), int(os.environ.get("WORLD_SIZE", 1))


model.cuda()
