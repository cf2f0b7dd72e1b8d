"""The page of self-play: who trained against whom, and the matrix of everybody against everybody."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from garrison.challenge.payoffs import Payoffs
from garrison.report.page import BROAD, NARROW, Cell, Page, heatmap
from garrison.runs.page_rhythm import FILE


def payoff_page(title: str, found: Payoffs, trained: Mapping[str, Sequence[str]], folder: Path) -> Page:
    """Return the page.

    Args:
        title: the folder's name.
        found: the matrix.
        trained: the opponents of each training, by the name of its folder.
        folder: where the trainings are.
    """
    page = Page(title, "Red and Blue, trained in turns against frozen opponents.", kind="self-play")
    blues, reds = ([_short(name, folder) for name in names] for names in (found.blues, found.reds))
    page.section("Everybody against everybody")
    told = f"{found.length} steps, rules `{found.rules}`, {found.episodes} episodes of each pair, seed {found.seed}."
    losses = [[-mean for mean in row] for row in found.means]
    broad, narrow = (heatmap(blues, reds, losses, write=_number, width=w, name="payoffs") for w in (BROAD, NARROW))
    page.chart(broad, "What Red gets", f"Stronger where Blue loses more: Blue's return, negated. {told}", narrow)
    rows = [
        [blue, *(f"{mean:.2f} ± {reach:.2f}" for mean, reach in zip(means, reaches, strict=True)), f"{worst:.2f}"]
        for blue, means, reaches, worst in zip(blues, found.means, found.ci95, found.worst, strict=True)
    ]
    page.table(["Blue's return against", *reds, "worst"], rows, caption="Means ± 95 %.")
    page.section("Trainings")
    page.table(
        ["run", "against"],
        [
            [
                Cell(name, link=f"{name}/{FILE}" if (folder / name / FILE).is_file() else ""),
                ", ".join(_short(one, folder) for one in others),
            ]
            for name, others in trained.items()
        ],
    )
    return page


def write_payoff_page(found: Payoffs, trained: Mapping[str, Sequence[str]], folder: Path) -> Path:
    """Write the page into the folder of self-play."""
    return payoff_page(folder.name, found, trained, folder).write(folder / FILE)


def _short(name: str, folder: Path) -> str:
    path = Path(name)
    return path.name if path.parent == folder else name


def _number(value: float) -> str:
    return f"{value:.1f}"
