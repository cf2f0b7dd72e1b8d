"""The style sheet that every page carries: light and dark, screen and print."""

from garrison.viewer.palette import BAD, GOOD, HEAT, INK, LINE, PALETTE, PAPER, SOFT, TINT, WARN


def _colours(form: int) -> str:
    plain = {"ink": INK, "paper": PAPER, "soft": SOFT, "line": LINE, "tint": TINT, "warn": WARN, "heat": HEAT}
    plain |= {"good": GOOD, "bad": BAD}
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
body.wide{{max-width:1240px}}.wide .lead{{max-width:none}}
h1{{font-size:1.9rem;line-height:1.2;margin:0 0 .4rem}}
h2{{font-size:1.3rem;margin:2.6rem 0 .5rem;padding-top:.6rem;border-top:1px solid var(--line)}}
h3{{font-size:1.05rem;margin:1.6rem 0 .3rem}}
p{{max-width:46rem;margin:.5rem 0}}
header{{margin-bottom:1.2rem}}header h1{{overflow-wrap:anywhere}}
.kind{{margin:0 0 .3rem;font-size:.8rem;letter-spacing:.08em;text-transform:uppercase;color:var(--soft)}}
.kind b{{color:var(--c0)}}
.badge{{display:inline-block;font-size:.78rem;font-weight:600;line-height:1;padding:.32em .7em;border-radius:99px;
vertical-align:middle;white-space:nowrap;color:var(--soft);background:var(--tint);border:1px solid currentColor}}
h1 .badge{{margin-left:.5rem}}.badge.good{{color:var(--good)}}.badge.bad{{color:var(--bad)}}
.badge.alive{{color:var(--c0)}}
.badge.alive::before{{content:"";display:inline-block;width:.55em;height:.55em;margin-right:.45em;border-radius:50%;
background:currentColor;animation:pulse 2s ease-in-out infinite}}
@keyframes pulse{{50%{{opacity:.25}}}}
@media(prefers-reduced-motion:reduce){{.badge.alive::before{{animation:none}}}}
.tiles{{display:grid;grid-template-columns:repeat(auto-fill,minmax(168px,1fr));gap:.7rem;margin:1rem 0}}
.tiles div{{display:flex;flex-direction:column-reverse;justify-content:flex-end;background:var(--tint);
border-radius:8px;padding:.7rem .9rem}}
.tiles dd{{font-size:1.28rem;font-weight:650;font-variant-numeric:tabular-nums;line-height:1.3}}
.tiles dt{{font-size:.84rem}}
progress{{display:block;width:100%;height:7px;margin:1rem 0;border:0;border-radius:4px;overflow:hidden;
background:var(--tint);appearance:none;accent-color:var(--c0)}}
progress::-webkit-progress-bar{{background:var(--tint)}}progress::-webkit-progress-value{{background:var(--c0)}}
progress::-moz-progress-bar{{background:var(--c0)}}
.grid{{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,330px),1fr));gap:.4rem 1.6rem}}
.wide figure{{max-width:none}}.grid figure{{min-width:0;margin:.7rem 0}}
.narrow{{display:none}}
.spark{{display:inline-block;width:120px;height:28px;vertical-align:middle}}
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
.whole{{white-space:nowrap}}td.doubtful{{color:var(--warn);font-style:italic}}td[title]{{cursor:help}}
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
svg .line.faint{{stroke-width:1.2;stroke-opacity:.35}}svg.spark .line{{stroke-width:1.5}}
svg .area{{fill:var(--c);fill-opacity:.88}}
svg .mark{{stroke:var(--soft);stroke-width:1;stroke-dasharray:2 3}}svg .mark.tick{{stroke-dasharray:none}}
svg .level{{stroke:var(--soft);stroke-width:1;stroke-dasharray:6 4;stroke-opacity:.8}}
svg .name{{font-size:11px;paint-order:stroke;stroke:var(--paper);stroke-width:3px;stroke-linejoin:round}}
svg .band{{fill:var(--c);fill-opacity:.16}}
svg .error{{fill:none;stroke:var(--c);stroke-width:1.2}}svg .error.over{{stroke:var(--ink);stroke-opacity:.75}}
svg .point{{fill:var(--c);stroke:var(--paper);stroke-width:1}}
svg .point.doubtful{{fill:var(--paper);stroke:var(--c);stroke-width:1.8}}
svg .bar{{fill:var(--c)}}svg .bar.doubtful{{fill-opacity:.4}}
svg .heat{{fill:var(--heat)}}svg .cell{{fill:var(--ink)}}
@media(max-width:680px){{body{{padding:20px 14px 40px}}
figure{{overflow-x:auto}}svg{{min-width:600px}}.grid svg,.narrow svg,svg.spark{{min-width:0}}
.broad{{display:none}}.narrow{{display:block}}.tiles{{grid-template-columns:repeat(auto-fill,minmax(120px,1fr))}}
.tiles dd{{font-size:1.1rem}}
th,td{{padding:.28rem .45rem}}th,th.right{{white-space:normal;vertical-align:bottom}}
th:first-child,td:first-child{{position:sticky;left:0;min-width:24vw;max-width:42vw;overflow-wrap:anywhere;
background:var(--paper)}}}}
@media print{{body{{max-width:none}}nav{{display:none}}figure,tr{{break-inside:avoid}}}}
"""
