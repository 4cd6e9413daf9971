# tries: what Colab makes of a notebook
# source: REPORTS R09, R12
# expect: full


def damage(content):
    content["metadata"] = {"colab": {"provenance": []}, "kernelspec": {"name": "python3", "display_name": "Python 3"}}
    content["nbformat_minor"] = 0
    for number, cell in enumerate(content["cells"]):
        cell.pop("id", None)
        cell["metadata"] = {
            **cell["metadata"],
            "id": f"x{number % 3}",
            "colab": {"base_uri": "https://localhost/"},
            "outputId": "y",
        }
    return content
