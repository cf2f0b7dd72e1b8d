"""One offline HTML file: text, tables and charts drawn as SVG, without JavaScript, fonts or anything from the network.

Only a page that is written again while a run goes has a few lines of script, which load it anew (`Page.live`).

page = Page("Two runs", "What they learned.")
page.section("Returns").chart(lines([Series("ppo", steps, returns)], x_label="steps", y_label="return"))
page.table(["run", "total"], [["ppo", -45.2], ["impala", Cell("-51.0", tip="one seed", doubtful=True)]])
page.write(folder / "index.html")
"""

from garrison.report.page.areas import areas
from garrison.report.page.bars import Bars, bars, stacked
from garrison.report.page.chart_marks import Level, Mark
from garrison.report.page.charts import Chart, Series, lines, scatter
from garrison.report.page.heatmap import heatmap
from garrison.report.page.html import Cell, Figure, Page, Tile
from garrison.report.page.parallel import Coordinate, parallel
from garrison.report.page.sparkline import sparkline
from garrison.report.page.svg import BROAD, NARROW

__all__ = [
    "BROAD",
    "NARROW",
    "Bars",
    "Cell",
    "Chart",
    "Coordinate",
    "Figure",
    "Level",
    "Mark",
    "Page",
    "Series",
    "Tile",
    "areas",
    "bars",
    "heatmap",
    "lines",
    "parallel",
    "scatter",
    "sparkline",
    "stacked",
]
