"""The report in a real browser: no error, no request, tables that sort, nothing that runs."""

import base64
import hashlib
import json
import re
import shutil
import subprocess

import numpy as np
import pytest

import multikernel as mk
from multikernel.report import Section, save_sections

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
BROWSER = next(filter(None, map(shutil.which, BROWSERS)), None)
DARK = ("--blink-settings=preferredColorScheme=0",)
EVIL = "<script>alert(1)</script>"
PROBE = """
const out = {};
out.width = document.documentElement.clientWidth;
const folds = [...document.querySelectorAll("details")];
const open = () => folds.filter((part) => part.open).length;
out.open = [open()];
dispatchEvent(new Event("beforeprint")); out.open.push(open());
dispatchEvent(new Event("afterprint")); out.open.push(open());
out.n_folds = folds.length;
const body = document.querySelector("table").tBodies[0];
const names = () => [...body.rows].map((row) => row.cells[0].textContent);
const [text, number] = document.querySelectorAll("thead th button");
out.before = names();
number.click(); out.descending = names();
out.sort = number.parentElement.getAttribute("aria-sort");
number.click(); out.ascending = names();
text.click(); out.alphabetical = names();
text.focus(); out.focused = document.activeElement === text;
out.wide = document.documentElement.scrollWidth > document.documentElement.clientWidth;
const main = document.querySelector("main");
out.widest = main.getBoundingClientRect().left + main.scrollWidth;
out.beyond = [...document.querySelectorAll(".scroll")].map((box) =>
  box.querySelector("caption").getBoundingClientRect().right - box.getBoundingClientRect().right);
out.paper = getComputedStyle(document.body).backgroundColor;
out.alt = [...document.querySelectorAll("[role=img]")].every((f) => f.getAttribute("aria-label"));
out.resources = performance.getEntriesByType("resource").map((entry) => entry.name);
const pre = document.createElement("pre");
pre.id = "probe"; pre.textContent = JSON.stringify(out); document.body.append(pre);
"""

pytestmark = pytest.mark.skipif(BROWSER is None, reason="needs Chromium or Chrome")


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    from matplotlib.figure import Figure

    figure = Figure()
    figure.add_subplot().plot([0, 1], label=EVIL)
    table = {"model": ["b", EVIL, "a"], "score": [0.9, None, 0.95], EVIL: ["x", "y", "z"]}
    sections = [
        Section(EVIL, (EVIL,), table, EVIL, figure, EVIL),
        Section("Folded", table={"n": [1]}, caption="One.", folded=True),
        Section("Wide", table={f"column {k}": [k * 1e5] for k in range(60)}, caption="Many."),
    ]
    folder = tmp_path_factory.mktemp("page")
    return save_sections(folder / "page.html", title=EVIL, lead=[EVIL], sections=sections)


def visit(page, folder, *options, size="1280,900", body_width=None):
    """What the probe saw, and what the console said."""
    html = page.read_text(encoding="utf-8")
    if body_width is not None:
        html = html.replace("</style>", f"body {{ width: {body_width}px; margin: 0; }}</style>", 1)
    digest = base64.b64encode(hashlib.sha256(PROBE.encode()).digest()).decode()
    html = html.replace("script-src ", f"script-src 'sha256-{digest}' ", 1)
    html = html.replace("</body>", f"<script>{PROBE}</script></body>")
    copy = folder / "copy.html"
    copy.write_text(html, encoding="utf-8")
    command = [
        BROWSER,
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-background-networking",
        "--no-first-run",
        f"--user-data-dir={folder / 'profile'}",
        f"--window-size={size}",
        "--virtual-time-budget=2000",
        "--enable-logging=stderr",
        *options,
        "--dump-dom",
        copy.as_uri(),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    seen = re.search(r'<pre id="probe">(.*?)</pre>', done.stdout, re.DOTALL).group(1)
    console = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
    unescaped = seen.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
    return json.loads(unescaped), console


def test_tables_sort_without_an_error_or_a_request(page, tmp_path):
    seen, console = visit(page, tmp_path)
    assert console == []
    assert seen["resources"] == []
    assert seen["before"] == ["b", EVIL, "a"]
    assert seen["descending"] == ["a", "b", EVIL]  # what has no number comes last
    assert seen["sort"] == "descending"
    assert seen["ascending"] == ["b", "a", EVIL]
    assert seen["alphabetical"] == [EVIL, "a", "b"]
    assert seen["focused"]
    assert seen["alt"]


@pytest.mark.parametrize("size", ["1280,900", "500,900"])
def test_the_page_itself_never_scrolls_sideways(page, tmp_path, size):
    assert not visit(page, tmp_path, size=size)[0]["wide"]


@pytest.mark.parametrize("size", ["1280,900", "500,900"])
def test_captions_of_wide_tables_are_seen_without_scrolling(page, tmp_path, size):
    beyond = visit(page, tmp_path, size=size)[0]["beyond"]
    assert len(beyond) == 3
    assert max(beyond) < 1


def test_dark_and_light(page, tmp_path):
    light = visit(page, tmp_path)[0]["paper"]
    dark = visit(page, tmp_path, *DARK)[0]["paper"]
    assert light == "rgb(255, 255, 255)"
    assert dark == "rgb(20, 24, 29)"


def test_what_is_folded_is_printed(page, tmp_path):
    seen, _ = visit(page, tmp_path)
    assert seen["n_folds"] > 0
    assert seen["open"] == [0, seen["n_folds"], 0]


def n_printed_pages(page, folder):
    target = folder / "print.pdf"
    command = [
        BROWSER,
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        f"--user-data-dir={folder / 'profile'}",
        f"--print-to-pdf={target}",
        page.as_uri(),
    ]
    subprocess.run(command, capture_output=True, timeout=120, check=True)
    return len(re.findall(rb"/Type\s*/Page\b", target.read_bytes()))


def test_a_long_folded_table_takes_pages_of_paper(tmp_path):
    table = {"n": list(range(190))}
    n_pages = []
    for folded in (False, True):
        section = Section("Many rows", table=table, caption="Numbers.", folded=folded)
        page = save_sections(tmp_path / "long.html", title="", lead=[], sections=[section])
        n_pages.append(n_printed_pages(page, tmp_path))
    assert n_pages[0] == n_pages[1] > 2


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    rng = np.random.default_rng(0)
    X = {name: rng.normal(size=(36, 2)) for name in ("a source of a rather long name", "mri", "c")}
    y = np.where(X["mri"][:, 0] > 0, "patient", "control")
    result = mk.compare(X, y, models=["uniform sum"], kernels="linear", cv=2, inner_cv=2)
    return mk.save_report(tmp_path_factory.mktemp("report") / "report.html", result)


@pytest.mark.parametrize("options", [(), DARK], ids=["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_a_real_report_is_quiet_and_fits(report, tmp_path, width, options):
    """Headless browsers may refuse to be as narrow as a phone, so the body is made so, too."""
    seen, console = visit(report, tmp_path, *options, size=f"{width},900", body_width=width)
    assert console == []
    assert seen["resources"] == []
    assert width - 20 <= seen["width"] <= max(width, 500)  # the narrowest window of Chromium
    assert not seen["wide"]
    assert seen["widest"] <= width
    assert seen["alt"]
    assert seen["paper"] == ("rgb(20, 24, 29)" if options else "rgb(255, 255, 255)")


def test_the_browser_would_tell(page, tmp_path):
    """A picture from elsewhere is refused, and said in the console."""
    spoiled = tmp_path / "spoiled.html"
    picture = '<img src="https://example.org/picture.png">'
    spoiled.write_text(page.read_text(encoding="utf-8").replace("</main>", f"{picture}</main>"))
    console = visit(spoiled, tmp_path)[1]
    assert len(console) == 1
    assert "Content Security Policy" in console[0]
