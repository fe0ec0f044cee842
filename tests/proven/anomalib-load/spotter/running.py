class Runner:
    def __init__(self, callbacks):
        self.callbacks = callbacks

    def call(self, hook, model):
        for callback in self.callbacks:
            getattr(callback, hook)(self, model)

    def test(self, model, images):
        self.call("on_test_start", model)
        return model(images).sum().item()

    def predict(self, model, images):
        self.call("on_predict_start", model)
        return model(images)
