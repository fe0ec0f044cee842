return self.ids[rows.to(self.ids.device)], self.labels[rows.to(self.labels.device)]
