"""`garrison export AGENT --format onnx`: a network as a file for other programs, checked; a model card; the hub."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from garrison.system import require


@dataclass(frozen=True)
class Arguments:
    """Write an agent's network as a file that other programs run, and check that it acts as the agent does."""

    agent: Annotated[str, tyro.conf.arg(metavar="AGENT")]
    """A shipped agent, a run folder or a checkpoint."""
    format: Annotated[str, tyro.conf.arg(metavar="onnx|torchscript|numpy")] = "onnx"
    """What to write: onnx (.onnx), torchscript (.pt) or numpy (.npz)."""
    out: Path | None = None
    """The file; by default it is called by the agent. A program that plays it is written beside it."""
    card: bool = False
    """Write a model card too, README.md beside the file: score, rules, command, seed, versions, licence."""
    license: str = ""
    """The licence that the card names, by the hub's identifiers, such as mit or cc-by-4.0; by default unknown."""
    push_to_hub: Annotated[str, tyro.conf.arg(metavar="USER/NAME")] = ""
    """Upload file, player and card to this repository of the Hugging Face hub, with your own token."""
    private: bool = False
    """Make that repository a private one, if there is none yet."""
    json: bool = False
    """Print JSON instead of text."""


def main(arguments: list[str]) -> int:
    """Run `garrison export`."""
    args = tyro.cli(Arguments, prog="garrison export", args=arguments, config=(tyro.conf.PositionalRequiredArgs,))
    require("torch", "yaml")
    from garrison.export.exporting import export_agent
    from garrison.export.hub import check_hub, push_to_hub
    from garrison.export.model_card import write_card

    if args.push_to_hub:
        check_hub(args.push_to_hub)
    exported = export_agent(args.agent, args.format, args.out)
    files, lines = [exported.path, exported.player], [exported.to_text()]
    values = exported.to_dict()
    if args.card or args.push_to_hub:
        files.append(write_card(exported, args.license))
        lines.append(f"{files[-1]} is its card")
        values["card"] = str(files[-1])
    if args.push_to_hub:
        values["hub"] = push_to_hub(args.push_to_hub, files, args.private)
        lines.append(f"uploaded to {values['hub']}")
    print(json.dumps(values) if args.json else "\n".join(lines))
    return 0
