# spot: torch.load(path)
# wanted: cuda:1
# devices: ;
class Saved:
    def read(self, path):
        return torch.load(path)
    def run(self, rows):
        return self.net(rows.to(self.net.device))
