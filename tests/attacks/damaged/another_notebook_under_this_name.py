# tries: says that it is another notebook than it is
# source: THREATS 138; REPORTS R16
# expect: refused
# says: says that it is 01_soft_retrieval but holds the exercises of 00_start_here


def damage(content):
    content["metadata"]["transformers_from_scratch"]["notebook"] = "01_soft_retrieval"
    return content
