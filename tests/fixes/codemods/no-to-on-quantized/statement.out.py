# spot: self.model.to(self.device)
class Server:
    def prepare(self):
        self.model.eval()
