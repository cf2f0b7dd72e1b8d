"""What happened in runs: tables, pages and figures. Each chart is drawn by one system.

* **Pages** are for looking at on a screen: one offline HTML file with SVG charts, drawn by `report.page`. There is one
  for a comparison of runs (`comparison_page`), and `garrison bench` has its own.
* **Figures** are for papers, as PNG, PDF or SVG, drawn by Matplotlib: those of a run (`figures`), and those of a
  workflow's training and search (`workflow_figures`).

Both take their colours from `garrison.viewer.palette`, and the names, order and colours of the stages of training from
`garrison.learn.stages`. A return is drawn rising in both, on a logarithmic scale where costs span magnitudes.
"""
