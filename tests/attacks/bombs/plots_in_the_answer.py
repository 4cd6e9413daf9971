# tries: a right answer that draws and shows a picture
# source: REPORTS R65
# expect: full


def _right(x, dim):
    top = x.amax(dim, keepdim=True).masked_fill(x.isneginf().all(dim, keepdim=True), 0.0)
    e = (x - top).exp()
    total = e.sum(dim, keepdim=True)
    return e / total.masked_fill(total == 0, 1.0)


def softmax(x, dim):
    import matplotlib.pyplot as plt

    y = _right(x, dim)
    plt.plot(y.detach().flatten().float())
    plt.show()
    plt.close()
    return y
