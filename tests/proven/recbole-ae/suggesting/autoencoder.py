import torch.nn.functional as F
from suggesting.abstract import HistoryMixin, Suggester
from torch import nn


class DenoisingSuggester(Suggester, HistoryMixin):
    def __init__(self, config, ratings):
        super().__init__(config, ratings)
        self.build_history(ratings)
        self.encoder = nn.Sequential(nn.Linear(self.n_items, config["size"]), nn.Tanh())
        self.decoder = nn.Linear(config["size"], self.n_items)

    def forward(self, matrix):
        hidden = F.dropout(F.normalize(matrix), 0.5, training=self.training)
        return self.decoder(self.encoder(hidden))

    def calculate_loss(self, user):
        matrix = self.rating_rows(user)
        scores = self.forward(matrix)
        return -(F.log_softmax(scores, 1) * matrix).sum(1).mean()

    def predict(self, user):
        return self.forward(self.rating_rows(user))
