import torch
import writer
from torch import nn


class Writer(nn.Module):
    def __init__(self, letters, hidden_size=16):
        super().__init__()
        self.letters = letters
        self.hidden_size = hidden_size
        self.encoder = nn.Embedding(len(letters), 8)
        self.rnn = nn.LSTM(8, hidden_size)
        self.decoder = nn.Linear(hidden_size, len(letters))
        self.to(writer.device)

    def first_hidden(self, batch):
        weight = next(self.parameters())
        return (
            weight.new_zeros(1, batch, self.hidden_size),
            weight.new_zeros(1, batch, self.hidden_size),
        )

    def forward(self, input, hidden):
        encoded = self.encoder(input)
        output, hidden = self.rnn(encoded, hidden)
        return self.decoder(output.flatten(0, 1)), hidden

    def write(self, prefix="\n", length=100, temperature=1.0):
        with torch.no_grad():
            written = []
            hidden = self.first_hidden(1)

            if len(prefix) > 1:
                known = []
                for letter in prefix[:-1]:
                    known.append(torch.tensor(self.letters.index(letter)).view(1, 1))
                input = torch.cat(known)
                if torch.cuda.is_available():
                    input = input.cuda()
                prediction, hidden = self.forward(input, hidden)

            input = torch.tensor(self.letters.index(prefix[-1])).view(1, 1)
            log_prob = 0.0

            for _ in range(length):
                if torch.cuda.is_available():
                    input = input.cuda()

                prediction, hidden = self.forward(input, hidden)
                scores = prediction.squeeze().div(temperature)
                weights = (scores - scores.max()).exp().cpu()
                chosen = torch.multinomial(weights, 1)[0]
                log_prob += scores[chosen]

                input = chosen.view(1, 1)
                written.append(self.letters[chosen])

            return prefix + "".join(written), log_prob.item() / length
