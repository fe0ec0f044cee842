# spot: self.model.to(self.device)
class Server:
    def prepare(self):
        pass
