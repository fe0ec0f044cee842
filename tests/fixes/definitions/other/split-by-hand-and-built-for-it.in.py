# cause: device-map-under-training
# spot: Tagger()
# step: gathered Trainer(Tagger().halve("cuda:0", "cuda:1"), args)
from transformers import Trainer
trainer = Trainer(Tagger().halve("cuda:0", "cuda:1"), args)
