return self.fc(pooled.to("cpu"))
