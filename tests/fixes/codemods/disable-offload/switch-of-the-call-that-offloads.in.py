# spot: self.text.embed.weight
# cause: offloaded-to-cpu
# step: offloaded cpu_offload_with_hook(self.text, self.device)
class Pipe:
    def __init__(self, device, save):
        self.device = device
        if save:
            _, self.hook = cpu_offload_with_hook(self.text, self.device)

    def mean(self):
        return self.text.embed.weight.mean(0)


options = argparse.ArgumentParser()
options.add_argument("--all-at-once", dest="save", action="store_false")
args = options.parse_args()
Pipe("cuda", args.save).mean()
