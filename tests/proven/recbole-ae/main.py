import torch
from suggesting.autoencoder import DenoisingSuggester
from suggesting.data import Ratings
from suggesting.training import Trainer

config = {"device": torch.device("cuda" if torch.cuda.is_available() else "cpu"), "size": 8}
ratings = Ratings(users=6, items=10)
model = DenoisingSuggester(config, ratings).to(config["device"])
trainer = Trainer(config, model)
print(trainer.fit(ratings.batches(size=3)))
print(model.predict(torch.arange(2, device=config["device"])).shape)
