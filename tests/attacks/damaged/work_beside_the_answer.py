# tries: the answer cell also prints, asks, trains, plots and downloads
# source: THREATS 121; REPORTS R60
# expect: full

from attacks.suite import cell_of

WORK = """
print(softmax(torch.ones(3), 0))
name = input("your name? ")
import urllib.request
page = urllib.request.urlopen("http://127.0.0.1:9/").read()
while True:
    break
import matplotlib.pyplot as plt
plt.show()
assert False, "my own test fails"
"""


def damage(content):
    cell = cell_of(content, "softmax")
    cell["source"] = "".join(cell["source"]) + WORK
    return content
