"""Make a PDF of a notebook's web page, for paper: everything is unfolded, and the answers stand at the end.

    python tools/make_pdf.py 04            into build/pdf (or: make pdf ONLY="04"); all where none is named

Explorers are their stored pictures. What gives something away (findings, solutions, answers of the quiz) is numbered
where it stood, and follows as "Answers". Chromium prints; Playwright drives it, as in the tests.
"""

import re
import sys
import tempfile
from pathlib import Path

from make_site import Site, asked
from notebook_frame import ROOT

sys.path.insert(0, str(ROOT / "tests/support"))

HEADING = re.compile(r"<h[1-4] [^>]*>(?P<heading>.*?)(?:<a class=\"anchor\"|</h)")
GIVES_AWAY = re.compile(r"<details><summary>(?P<kind>The finding|Solution|Answers)</summary>(?P<answer>.*?)</details>")
PARTS = re.compile(f"(?s:{HEADING.pattern}|{GIVES_AWAY.pattern})")
SHEETS = {
    **{"format": "A4", "scale": 0.8, "margin": dict.fromkeys(("top", "bottom", "left", "right"), "1.8cm")},
    **{"tagged": True, "outline": True, "print_background": True},
    **{"display_header_footer": True, "header_template": "<i></i>"},
    "footer_template": '<p style="width: 100%; text-align: center; font-size: 8px" class="pageNumber"></p>',
}


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


def main(arguments: list[str] | None = None) -> int:
    """Command line; returns the exit code."""
    paths, to = asked(__doc__, "pdf", arguments)
    from browser_harness import chromium, find_chromium

    if not find_chromium():
        print("make_pdf: no Chromium found, which prints the pages: apt install chromium, or name one in TX_CHROMIUM")
        return 1
    with tempfile.TemporaryDirectory() as folder, chromium() as browser:
        Site(paths).write(Path(folder))
        page = browser.new_page(color_scheme="light")
        for path in paths:
            source, file = Path(folder) / f"{path.stem}.html", to / f"{path.stem}.pdf"
            source.write_text(for_paper(source.read_text("utf-8")), "utf-8")
            page.goto(source.as_uri())
            page.pdf(path=file, **SHEETS)
            print(f"{file}: {file.stat().st_size / 1e6:.1f} MB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
