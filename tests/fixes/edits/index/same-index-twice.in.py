# index-to-device devices=cpu
return self.ids[rows], self.labels[rows]
