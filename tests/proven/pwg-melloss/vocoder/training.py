class Trainer:
    def __init__(self, batches, model, criterion, optimizer, config, device):
        self.batches = batches
        self.model = model
        self.criterion = criterion
        self.optimizer = optimizer
        self.config = config
        self.device = device

    def run(self):
        for batch in self.batches:
            self._train_step(batch)

    def _train_step(self, batch):
        x, y = batch
        x = x.to(self.device)
        y = y.to(self.device)
        y_ = self.model["generator"](x)
        loss = self.criterion["waveform"](y_, y)
        if self.config["use_mel_loss"]:
            mel_loss = self.criterion["mel"](y_, y)
            loss += mel_loss
        self.optimizer["generator"].zero_grad()
        loss.backward()
        self.optimizer["generator"].step()
        print(loss.item())
