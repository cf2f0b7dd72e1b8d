"""The style sheet that every page carries: light and dark, screen and print."""

from garrison.viewer.palette import HEAT, INK, LINE, PALETTE, PAPER, SOFT, TINT, WARN


def _colours(form: int) -> str:
    plain = {"ink": INK, "paper": PAPER, "soft": SOFT, "line": LINE, "tint": TINT, "warn": WARN, "heat": HEAT}
    named = "".join(f"--{name}:{forms[form]};" for name, forms in plain.items())
    return named + "".join(f"--c{k}:{forms[form]};" for k, forms in enumerate(PALETTE.values()))


_SERIES = "".join(f".c{k}{{--c:var(--c{k})}}" for k in range(len(PALETTE)))

CSS = f"""
:root{{color-scheme:light dark;{_colours(0)}}}
@media(prefers-color-scheme:dark){{:root{{{_colours(1)}}}}}
{_SERIES}
*{{box-sizing:border-box}}
body{{margin:0 auto;max-width:920px;padding:28px 20px 60px;background:var(--paper);color:var(--ink);
font:16px/1.5 system-ui,-apple-system,"Segoe UI",sans-serif}}
h1{{font-size:1.9rem;line-height:1.2;margin:0 0 .4rem}}
h2{{font-size:1.3rem;margin:2.6rem 0 .5rem;padding-top:.6rem;border-top:1px solid var(--line)}}
h3{{font-size:1.05rem;margin:1.6rem 0 .3rem}}
p{{max-width:46rem;margin:.5rem 0}}
.lead{{color:var(--soft);font-size:1.08rem}}
nav{{display:flex;flex-wrap:wrap;gap:.1rem 1rem;margin:1rem 0;font-size:.93rem}}
a{{color:var(--c0)}}
code,pre{{font:.9em/1.45 ui-monospace,Menlo,Consolas,monospace;background:var(--tint);border-radius:4px}}
code{{padding:.1em .3em}}pre{{padding:.7rem .9rem;overflow-x:auto;margin:.6rem 0}}
.small{{font-size:.88rem;color:var(--soft);margin:.3rem 0}}
.note{{border-left:3px solid var(--warn);padding:.1rem .9rem;margin:.8rem 0}}
.scroll{{overflow-x:auto;margin:.8rem 0}}
table{{border-collapse:collapse;font-size:.92rem;font-variant-numeric:tabular-nums}}
caption{{text-align:left;color:var(--soft);padding:0 0 .4rem}}
th,td{{padding:.28rem .7rem;border-bottom:1px solid var(--line);text-align:left;vertical-align:top}}
th{{color:var(--soft);font-weight:600;white-space:nowrap}}
.right{{text-align:right;white-space:nowrap}}
td.doubtful{{color:var(--warn);font-style:italic}}td[title]{{cursor:help}}
dl{{display:grid;grid-template-columns:max-content 1fr;gap:.15rem 1.2rem;font-size:.92rem;margin:.8rem 0}}
dt{{color:var(--soft)}}dd{{margin:0;overflow-wrap:anywhere}}
details{{margin:.8rem 0}}summary{{cursor:pointer;color:var(--soft)}}
figure{{margin:1.1rem 0;max-width:760px}}
figcaption{{font-size:.92rem;color:var(--soft);margin-bottom:.3rem}}
figcaption strong{{color:var(--ink);display:block;font-size:1rem}}
.legend{{display:flex;flex-wrap:wrap;gap:.1rem 1.1rem;font-size:.86rem;margin:.3rem 0}}
.legend span::before{{content:"";display:inline-block;width:14px;height:0;border-top:4px solid var(--c);
margin-right:.4em;vertical-align:middle}}
.legend span.dashed::before{{border-top-style:dotted}}
svg{{display:block;width:100%;height:auto;overflow:visible;font:12px system-ui,-apple-system,"Segoe UI",sans-serif}}
svg text{{fill:var(--soft)}}svg .label{{fill:var(--ink)}}
svg .middle{{text-anchor:middle}}svg .end{{text-anchor:end}}
svg .grid{{stroke:var(--line);stroke-width:1}}svg .axis{{stroke:var(--soft);stroke-width:1}}
svg .line{{fill:none;stroke:var(--c);stroke-width:2;stroke-linejoin:round}}svg .line.dashed{{stroke-dasharray:5 4}}
svg .band{{fill:var(--c);fill-opacity:.16}}
svg .error{{fill:none;stroke:var(--c);stroke-width:1.2}}svg .error.over{{stroke:var(--ink);stroke-opacity:.75}}
svg .point{{fill:var(--c);stroke:var(--paper);stroke-width:1}}
svg .point.doubtful{{fill:var(--paper);stroke:var(--c);stroke-width:1.8}}
svg .bar{{fill:var(--c)}}svg .bar.doubtful{{fill-opacity:.4}}
svg .heat{{fill:var(--heat)}}svg .cell{{fill:var(--ink)}}
@media(max-width:680px){{body{{padding:20px 14px 40px}}
figure{{overflow-x:auto}}svg{{min-width:600px}}
th,td{{padding:.28rem .45rem}}th,th.right{{white-space:normal;vertical-align:bottom}}
th:first-child,td:first-child{{position:sticky;left:0;min-width:24vw;max-width:42vw;background:var(--paper)}}}}
@media print{{body{{max-width:none}}nav{{display:none}}figure,tr{{break-inside:avoid}}}}
"""
