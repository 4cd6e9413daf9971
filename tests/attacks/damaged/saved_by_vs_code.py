# tries: what VS Code makes of a notebook
# source: REPORTS R07
# expect: full


def damage(content):
    for cell in content["cells"]:
        cell["metadata"]["vscode"] = {"languageId": "python"}
        cell.pop("id", None)
    content["metadata"]["kernelspec"] = {"display_name": ".venv (3.11.7)", "language": "python", "name": "python3"}
    return content
