"""A learner in JupyterLab, in a real browser: run all, get it wrong, get it right, take a hint, look at the progress.

Screenshots of both themes are left in screenshots/, to be looked at by a human: a test can't see what is pretty.
"""

import contextlib
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request

import pytest
from playwright.sync_api import expect, sync_playwright

from grader import course, release

pytestmark = pytest.mark.slow

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
FLAGS = (
    "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync"
).split()
TOKEN = "course"
PATIENCE = 120_000  # milliseconds, for what takes seconds on a computer that does nothing else
SCREENSHOTS = course.ROOT / "screenshots"
THEMES = {"light": "JupyterLab Light", "dark": "JupyterLab Dark"}
RIGHT = course.exercise("causal_mask").source
WRONG = RIGHT.replace("tril", "triu")


@pytest.fixture(scope="module")
def browser():
    """Headless Chromium of this computer."""
    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    if path is None:
        pytest.fail(f"no browser: install Chromium, so that one of {', '.join(BROWSERS)} is on the PATH", pytrace=False)
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield opened
        opened.close()


@pytest.fixture(params=THEMES)
def lab(request, browser, tmp_path):
    """JupyterLab in a browser, in one theme, over a fresh copy of the notebooks."""
    folder = shutil.copytree(release.NOTEBOOKS, tmp_path / "notebooks", ignore=shutil.ignore_patterns(".*", "my_*"))
    with served(folder, configured(tmp_path / "jupyter", THEMES[request.param])) as address:
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.set_default_timeout(PATIENCE)
        yield Lab(page, address, request.param)
        page.close()


def test_a_learner_tries_an_exercise(lab):
    lab.open("00_start_here")
    lab.write("softmax", course.exercise("softmax").source)
    lab.run_all()
    expect(lab.output("check_softmax")).to_contain_text("public checks passed")

    lab.open("01_soft_retrieval")
    lab.run_all()
    assert lab.errors() == []
    expect(lab.output("setup")).to_contain_text("softmax: yours, from my_transformer.py")
    for exercise in course.notebook("01_soft_retrieval").exercises:
        expect(lab.output(f"check_{exercise.name}")).to_contain_text(f"{exercise.name}: not attempted yet")
    lab.picture("untouched", lab.output("check_causal_mask"))

    verdict = lab.output("check_causal_mask")
    lab.write("causal_mask", "1 / 0")
    lab.run("causal_mask")
    assert any("ZeroDivisionError" in text for text in lab.errors()), "a traceback is not seen by this test"
    lab.write("causal_mask", WRONG)
    lab.run("causal_mask", "check_causal_mask")
    expect(verdict.locator(".course-box.failed")).to_contain_text("✗ failed")
    expect(verdict.locator("svg[role=img]").first).to_be_visible()
    lab.picture("failed", verdict)

    lab.write("causal_mask", RIGHT)
    lab.run("causal_mask", "check_causal_mask")
    expect(verdict.locator(".course-box.passed")).to_contain_text("added to my_transformer.py")
    lab.picture("passed", verdict)
    assert lab.errors() == []


def test_hints_pictures_and_progress(lab):
    lab.open("01_soft_retrieval")
    for exercise in course.notebook("01_soft_retrieval").exercises:
        lab.write(exercise.name, exercise.source)
    lab.run_all()
    assert lab.errors() == []

    hint = lab.after("check_causal_mask")
    lab.type_into(hint, "hint(causal_mask)")
    for number in (1, 2):
        lab.run_cell(hint)
        expect(hint.locator(".jp-OutputArea-output").last).to_contain_text(f"causal_mask, hint {number} of 3")
    lab.picture("hint", hint)

    expect(lab.progress()).to_contain_text(re.compile(r"causal_mask\s*1\s*✓ passed"))
    lab.picture("progress", lab.progress())
    lab.pictures()


@contextlib.contextmanager
def served(folder, environment):
    """A JupyterLab server over `folder`. Gives its address, and ends it with all its kernels."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    address = f"http://127.0.0.1:{port}"
    command = [
        sys.executable,
        "-m",
        "jupyter",
        "lab",
        "--no-browser",
        "--allow-root",
        f"--IdentityProvider.token={TOKEN}",
    ]
    command += ["--ServerApp.ip=127.0.0.1", f"--ServerApp.port={port}", "--ServerApp.port_retries=0"]
    log = folder.with_name("server.log")
    with log.open("w") as written:
        server = subprocess.Popen(command, cwd=folder, env=environment, stdout=written, stderr=subprocess.STDOUT)
    try:
        wait_for(address, server, log)
        yield address
    finally:
        # A server that is told to end ends its kernels first.
        server.terminate()
        try:
            server.wait(30)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()


def wait_for(address, server, log):
    """Return as soon as the server answers. Fails with the end of its log if it stops or stays silent."""
    end = time.monotonic() + PATIENCE / 1000
    while server.poll() is None and time.monotonic() < end:
        try:
            with urllib.request.urlopen(f"{address}/api/status?token={TOKEN}", timeout=5):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.1)
    pytest.fail(f"JupyterLab does not start:\n{log.read_text()[-2000:]}", pytrace=False)


def configured(folder, theme):
    """The environment of a server that knows nothing of the user's own Jupyter and asks nobody outside."""
    settings = {
        "apputils-extension/themes": {"theme": theme},
        "apputils-extension/notification": {"fetchNews": "false", "checkForUpdates": False},
        "lsp-extension/plugin": {"activate": "off"},
        # All cells are in the page at all times, so that the test can read them without scrolling.
        "notebook-extension/tracker": {"windowingMode": "none"},
    }
    for name, values in settings.items():
        path = folder / "settings" / "@jupyterlab" / f"{name}.jupyterlab-settings"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(values))
    (folder / "config").mkdir()
    extensions = {"ServerApp": {"jpserver_extensions": {"jupyter_lsp": False}}}
    (folder / "config" / "jupyter_server_config.json").write_text(json.dumps(extensions))
    places = {
        "JUPYTERLAB_SETTINGS_DIR": "settings",
        "JUPYTERLAB_WORKSPACES_DIR": "workspaces",
        "JUPYTER_CONFIG_DIR": "config",
        "JUPYTER_RUNTIME_DIR": "runtime",
        "JUPYTER_DATA_DIR": "data",
        "IPYTHONDIR": "ipython",
    }
    return os.environ | {name: str(folder / place) for name, place in places.items()} | {"OMP_NUM_THREADS": "1"}


class Lab:
    """One page of JupyterLab with a notebook, and what a learner does in it."""

    def __init__(self, page, address, theme):
        self.page, self.address, self.theme = page, address, theme

    def open(self, stem):
        """Open a notebook, alone on the page, and wait until its kernel is ready."""
        self.stem = stem
        cells = json.loads((release.NOTEBOOKS / f"{stem}.ipynb").read_text("utf-8"))["cells"]
        self.places = {cell["metadata"].get("nbgrader", {}).get("grade_id"): at for at, cell in enumerate(cells)}
        self.page.goto(f"{self.address}/doc/tree/{stem}.ipynb?token={TOKEN}&reset")
        expect(self.page.locator(".jp-Notebook .jp-Cell")).to_have_count(len(cells), timeout=PATIENCE)
        # Only this line tells a kernel that answers from one that is still being started.
        expect(self.page.get_by_text(re.compile(r"\| Idle$"))).to_be_visible(timeout=PATIENCE)
        expect(self.page.locator("body")).to_have_attribute("data-jp-theme-name", THEMES[self.theme])

    def cell(self, grade_id, further=0):
        return self.page.locator(".jp-Notebook .jp-Cell").nth(self.places[grade_id] + further)

    def after(self, grade_id):
        return self.cell(grade_id, further=1)

    def output(self, grade_id):
        return self.cell(grade_id).locator(".jp-Cell-outputArea")

    def progress(self):
        return self.page.locator(".course-box:has(table)").last

    def type_into(self, cell, text):
        """Replace what stands in a cell, by keyboard."""
        editor = cell.locator(".cm-content")
        editor.click()
        self.page.keyboard.press("ControlOrMeta+A")
        self.page.keyboard.insert_text(text)
        expect(editor).to_contain_text(text.splitlines()[-1])

    def write(self, name, source):
        """Type an answer, without the marks that only the source of the course has."""
        self.type_into(self.cell(name), re.sub(r"\s*### (BEGIN|END) SOLUTION", "", source))

    def run_cell(self, cell):
        """Shift+Enter, and wait until the cell has another number than before."""
        prompt = cell.locator(".jp-InputPrompt")
        before = prompt.inner_text()
        cell.locator(".cm-content").click()
        self.page.keyboard.press("Shift+Enter")
        expect(prompt).not_to_have_text(before, timeout=PATIENCE)
        expect(prompt).to_have_text(re.compile(r"\[\d+\]:"), timeout=PATIENCE)
        # The next cell is selected then; whoever types before that types into another cell.
        expect(cell).not_to_have_class(re.compile("jp-mod-active"), timeout=PATIENCE)

    def run(self, *grade_ids):
        for grade_id in grade_ids:
            self.run_cell(self.cell(grade_id))

    def run_all(self):
        """Run > Run All Cells; wait until no cell is without its number."""
        self.page.get_by_role("menuitem", name="Run", exact=True).click()
        self.page.get_by_role("menuitem", name="Run All Cells", exact=True).click()
        prompts = self.page.locator(".jp-CodeCell .jp-InputPrompt")
        expect(prompts.filter(has_not_text=re.compile(r"\[\d+\]:"))).to_have_count(0, timeout=PATIENCE)

    def errors(self):
        """The texts of all tracebacks and of all that stands on a red ground."""
        kinds = ("application/vnd.jupyter.error", "application/vnd.jupyter.stderr")
        return self.page.locator(", ".join(f'[data-mime-type="{kind}"]' for kind in kinds)).all_inner_texts()

    def picture(self, name, place):
        """A screenshot of the page with this place in its middle."""
        SCREENSHOTS.mkdir(exist_ok=True)
        place.evaluate("element => element.scrollIntoView({block: 'center'})")
        self.page.screenshot(path=SCREENSHOTS / f"{self.theme}_{name}.png")

    def pictures(self):
        """A screenshot of each figure; all of them are drawn within the page."""
        figures = self.page.locator(".jp-OutputArea-output > svg, .jp-RenderedHTMLCommon > svg")
        assert figures.count() > 0
        for place in range(figures.count()):
            figure = figures.nth(place)
            expect(figure).to_have_attribute("aria-label", re.compile(r"\w"))
            figure.screenshot(path=SCREENSHOTS / f"{self.theme}_{self.stem}_{place + 1}.png")
