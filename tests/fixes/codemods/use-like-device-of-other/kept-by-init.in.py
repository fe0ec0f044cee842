# cause: hardcoded-device
# spot: self.rows().cuda()
# devices: ;
# wanted: cuda
# step: stored self.depths = chart.read()
class Chart:
    def read(self):
        return self.rows().cuda()
class Survey:
    def __init__(self, chart, where):
        self.depths = chart.read()
        self.device = where
        self.marks = chart.marks().to(self.device)
