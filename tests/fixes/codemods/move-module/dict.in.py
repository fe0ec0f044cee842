# spot: {name: Net() for name in names}
nets = {name: Net() for name in names}
