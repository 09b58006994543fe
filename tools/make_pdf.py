"""Make a PDF of a notebook's web page, for paper: everything is unfolded, and the answers stand at the end.

    python tools/make_pdf.py 04            into build/pdf (or: make pdf ONLY="04"); all where none is named

Explorers are their stored pictures. What gives something away (findings, solutions, answers of the quiz) is numbered
where it stood, and follows as "Answers". Chromium prints; Playwright drives it, as in the tests.
"""

import argparse
import re
import sys
import tempfile
from pathlib import Path

from make_site import Site
from notebook_frame import ROOT
from refresh_notebooks import selected

sys.path.insert(0, str(ROOT / "tests/support"))

HEADING = re.compile(r"<h[1-4] [^>]*>(?P<heading>.*?)(?:<a class=\"anchor\"|</h)")
GIVES_AWAY = re.compile(r"<details><summary>(?P<kind>The finding|Solution|Answers)</summary>(?P<answer>.*?)</details>")
PARTS = re.compile(f"(?s:{HEADING.pattern}|{GIVES_AWAY.pattern})")
FOOT = '<div style="font-size: 8px; width: 100%; text-align: center"><span class="pageNumber"></span></div>'


def for_paper(page: str) -> str:
    """A page of the site with its folds open and its answers at the end; without set-up, and with no link to a file."""
    answers, heading = [], ""

    def moved(part: re.Match) -> str:
        nonlocal heading
        if part["heading"]:
            heading = part["heading"]
            return part[0]
        number = len(answers) + 1
        title = f"Answer {number}. {part['kind']}: {heading}"
        answers.append(f'<div class="cell"><h3 id="answer-{number}">{title}</h3>{part["answer"]}</div>')
        return f'<p><a href="#answer-{number}">{part["kind"]}: see answer {number} at the end.</a></p>'

    page = re.sub(r'(?s)<details class="folded"><summary>Set-up</summary>.*?</details>', "", page)
    page = PARTS.sub(moved, page).replace(' loading="lazy"', "").replace("<details", "<details open")
    page = re.sub(r'(?s)<a href="(?!https?:|#)[^"]*"[^>]*>(.*?)</a>', r"\1", page)
    listed = f'<h2 id="answers">Answers</h2>{"".join(answers)}' if answers else ""
    return page.replace("</main>", f"{listed}</main>")


def write_pages(paths: list[Path], folder: Path) -> None:
    """The pages for paper, with their styles and pictures, into the folder."""
    site = Site(paths)
    for path in paths:
        file = f"{path.stem}.html"
        site.files[file] = for_paper(site.files[file].decode()).encode()
    site.write(folder)


def main(arguments: list[str] | None = None) -> int:
    """Command line; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("notebooks", nargs="*", help="number, name or path; all where none is given")
    parser.add_argument("--to", type=Path, default=ROOT / "build" / "pdf", help="folder (default %(default)s)")
    options = parser.parse_args(arguments)
    try:
        chosen = selected(options.notebooks, ROOT / "notebooks")
    except ValueError as error:
        parser.error(str(error))
    from browser_harness import chromium, find_chromium

    if not find_chromium():
        print("make_pdf: no Chromium found, which prints the pages: apt install chromium, or name one in TX_CHROMIUM")
        return 1
    options.to.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, chromium() as browser:
        write_pages(chosen, Path(folder))
        page = browser.new_page(color_scheme="light")
        for path in chosen:
            page.goto((Path(folder) / f"{path.stem}.html").as_uri())
            file = options.to / f"{path.stem}.pdf"
            margin = dict.fromkeys(("top", "bottom", "left", "right"), "1.8cm")
            foot = {"display_header_footer": True, "header_template": "<span></span>", "footer_template": FOOT}
            kind = {"format": "A4", "scale": 0.8, "tagged": True, "outline": True, "print_background": True}
            page.pdf(path=file, margin=margin, **kind, **foot)
            print(f"{file}: {file.stat().st_size / 1e6:.1f} MB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
