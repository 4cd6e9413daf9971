# tries: made for another version of the course
# source: THREATS 138
# expect: full
# says: made for version 9.9


def damage(content):
    content["metadata"]["transformers_from_scratch"]["version"] = "9.9"
    return content
