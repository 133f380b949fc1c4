"""The page in a real browser, headless: it draws, sorts, filters, and changes its theme."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from nicbed.testbench.report import page

from tests.testbench.report import results

BROWSER = shutil.which("chromium") or shutil.which("google-chrome")
LIMIT = 120  # seconds
ACTS = """
const found = {errors: window.errors};
const table = [...document.querySelectorAll("table")].find((one) => one.rows.length === 21);
const cell = (column) => [...table.tBodies[0].rows].filter((row) => !row.hidden)
  .map((row) => row.cells[column].textContent);
found.curves = document.querySelectorAll(".scatterlayer .trace").length;
found.bars = document.querySelectorAll(".barlayer .point").length;
found.before = cell(2);
table.tHead.rows[0].cells[2].click();
found.ascending = cell(2);
table.tHead.rows[0].cells[2].click();
found.descending = cell(2);
const box = table.closest("figure").querySelector(".filter");
const filter = (text) => {
  box.value = text;
  box.dispatchEvent(new Event("input"));
  return cell(2);
};
found.bound = filter("link.latency >= 8");
found.both = filter("link.latency >= 8, layer = am");
found.text = filter("via");
found.all = filter("").length;
const paper = () => getComputedStyle(document.body).backgroundColor;
found.papers = [paper()];
document.getElementById("theme").click();
found.papers.push(paper());
document.getElementById("theme").click();
found.papers.push(paper());
const out = document.createElement("pre");
out.id = "found";
out.textContent = JSON.stringify(found);
document.body.append(out);
"""


@pytest.mark.full
@pytest.mark.skipif(BROWSER is None, reason="no Chromium here: sudo apt install chromium")
def test_in_a_browser(tmp_path: Path) -> None:
    text = page([results.logp(tmp_path), results.rtt(tmp_path), results.sweep(tmp_path)])
    watch = "<script>window.errors = []; onerror = (text) => errors.push(text);</script>"
    file = tmp_path / "page.html"
    file.write_text(text.replace("<head>", "<head>" + watch).replace(
        "</body>", f"<script>{ACTS}</script></body>"))
    run = subprocess.run(
        [str(BROWSER), "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run",
         "--disable-quic", "--disable-background-networking", "--disable-component-update",
         "--disable-sync", f"--user-data-dir={tmp_path / 'profile'}",
         "--virtual-time-budget=10000", "--dump-dom", file.as_uri()],
        capture_output=True, text=True, timeout=LIMIT)
    [told] = re.findall(r'<pre id="found">(.*?)</pre>', run.stdout, re.DOTALL)
    found = json.loads(told.replace("&gt;", ">").replace("&lt;", "<").replace("&amp;", "&"))
    assert found["errors"] == []
    assert found["curves"] == 4 and found["bars"] > 4
    values = [1000 - 7 * n for n in range(20)]
    assert [int(one) for one in found["before"]] == values
    assert [int(one) for one in found["ascending"]] == sorted(values)
    assert [int(one) for one in found["descending"]] == values
    points = [(2 ** (n % 5), "am" if n % 2 else "via", value) for n, value in enumerate(values)]
    assert [int(one) for one in found["bound"]] == [v for a, _, v in points if a >= 8]
    assert [int(one) for one in found["both"]] == [v for a, b, v in points if a >= 8 and b == "am"]
    assert [int(one) for one in found["text"]] == [v for _, b, v in points if b == "via"]
    assert found["all"] == 20
    assert found["papers"][0] == found["papers"][2] != found["papers"][1]
