class Cam:
    """Where a layer looks for what a target asks for."""

    def __init__(self, model, layer):
        self.model = model
        self.device = next(model.parameters()).device
        layer.register_forward_hook(self.keep)

    def keep(self, layer, inputs, output):
        self.activations = output
        output.retain_grad()

    def __call__(self, image, targets):
        return self.forward(image, targets)

    def forward(self, image, targets):
        image = image.to(self.device)
        outputs = self.model(image)
        self.model.zero_grad()
        loss = sum([target(output) for target, output in zip(targets, outputs)])
        loss.backward()
        weights = self.activations.grad.mean(dim=(2, 3), keepdim=True)
        return (weights * self.activations).sum(dim=1).relu().detach().cpu().numpy()
