# spot: graph.pos, graph.y = graph.pos.to(gpu), graph.y.to(gpu)
# cause: input-not-moved
# name: edge_index
# devices:
# wanted: cuda:0
def run(net, graph, gpu):
    graph = graph.to(gpu)  # labels, too
    return net(graph.pos, graph.edge_index)
