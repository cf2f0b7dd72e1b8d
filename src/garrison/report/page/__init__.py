"""One offline HTML file: text, tables and charts drawn as SVG, without JavaScript, fonts or anything from the network.

page = Page("Two runs", "What they learned.")
page.section("Returns").chart(lines([Series("ppo", steps, returns)], x_label="steps", y_label="return"))
page.table(["run", "total"], [["ppo", -45.2], ["impala", Cell("-51.0", tip="one seed", doubtful=True)]])
page.write(folder / "index.html")
"""

from garrison.report.page.bars import Bars, bars, stacked
from garrison.report.page.charts import Chart, Series, lines, scatter
from garrison.report.page.heatmap import heatmap
from garrison.report.page.html import Cell, Page

__all__ = ["Bars", "Cell", "Chart", "Page", "Series", "bars", "heatmap", "lines", "scatter", "stacked"]
