# cause: offloaded-to-cpu
# spot: self.net.to(self.device)
class Server:
    def start(self):
        self.net.to(self.device)
        self.ready = True
