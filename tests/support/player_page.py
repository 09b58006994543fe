"""A recorded explorer in a bare page of Chromium; the fixture `bare_page` makes the page."""

from tx_helpers.show.explore import Explore
from tx_helpers.show.recording import recorded_form
from tx_helpers.show.stored import PageForm
from widget_page import mount

THEMES = ":root { color-scheme: light dark } body { background: light-dark(#FFF, #111); color: light-dark(#111, #EEE) }"
# "" if the picture in the page is the given markup, else both.
PICTURE = """(markup) => {
  const [place, expected] = [document.querySelector(".tx-view"), document.createElement("div")];
  expected.innerHTML = markup;
  return place.innerHTML === expected.innerHTML ? "" : `${place.innerHTML}\\n${expected.innerHTML}`;
}"""


def mount_form(page, form: PageForm) -> None:
    """The form on the page, its style sheet too."""
    page.add_style_tag(content=f"{THEMES} {form.css}")
    mount(page, form.script, form.state)


def play(page, explorer: Explore, **limits) -> None:
    """The explorer as it is on a page without a kernel, its first picture drawn."""
    mount_form(page, recorded_form(explorer, **limits))
    page.locator(".tx-explorer .tx-picture").wait_for()


def shown(page) -> tuple[str, str]:
    """The summary and the error."""
    error = page.locator(".tx-error")
    return page.locator(".tx-summary").text_content(), error.text_content() if error.is_visible() else ""


def turn(page, role: str, name: str, value) -> None:
    """Put a control to a value; a slider to the n-th of its stops."""
    control = page.get_by_role(role, name=name, exact=True)
    if role == "slider":
        control.fill(str(value))
    elif role == "checkbox":
        control.set_checked(value)
    elif control.evaluate("node => node.tagName") == "SELECT":
        control.select_option(label=value)
    else:
        control.fill(value)
        control.press("Enter")


def put(page, about: dict, place: int) -> None:
    """Put the control that a recording describes so to one of its places."""
    roles = {"slider": "slider", "tick": "checkbox", "choice": "combobox", "text": "combobox"}
    if about["kind"] == "buttons":
        page.get_by_role("button", name=about["texts"][place], exact=True).click()
    else:
        value = {"slider": place, "tick": about["values"][place]}.get(about["kind"], about["texts"][place])
        turn(page, roles[about["kind"]], about["label"], value)
