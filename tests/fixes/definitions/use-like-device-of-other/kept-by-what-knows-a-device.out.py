# cause: hardcoded-device
# spot: self.rows().cuda()
# devices: ;
# wanted: cuda
# step: stored self.depths = chart.read()
class Chart:
    def read(self):
        return self.rows().cuda()
class Survey:
    def __init__(self, device):
        self.device = device
    def take(self, chart):
        self.depths = chart.read().to(self.device)
        self.marks = chart.marks().to(self.device)
