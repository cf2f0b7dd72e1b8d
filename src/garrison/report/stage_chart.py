"""The chart of where the time of trainings went, by stage, for every page that shows one."""

from collections.abc import Mapping, Sequence

from garrison.learn import stages
from garrison.report.page import Chart, stacked
from garrison.report.page.svg import WIDTH


def stage_chart(rows: Sequence[str], splits: Sequence[Mapping[str, float]], width: float = WIDTH) -> Chart:
    """Return a bar per row: the share of each stage of its `split`, which is in seconds or in shares."""
    found = stages.in_order({stage for split in splits for stage in split})
    parts = {stages.label(stage): [split.get(stage, 0.0) for split in splits] for stage in found}
    colours = [stages.colour(stage) for stage in found]
    return stacked(rows, parts, share=True, x_label="% of the time", colours=colours, width=width)
