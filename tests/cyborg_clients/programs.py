"""Which programs are run, what is changed in them, and what they leave behind."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Program:
    """Somebody's program that plays CAGE-2 through CybORG's interface."""

    name: str
    folder: str
    """its clone's folder within CLIENTS; "" for a program of CybORG itself"""
    commit: str
    script: str
    episodes: int
    """how many it plays, for the table"""
    arguments: tuple[str, ...] = ()
    edits: tuple[tuple[str, str], ...] = ()
    """text of the script, and what stands there instead: mostly how long it runs"""
    seed: int | None = None
    """for a program that does not seed everything by itself"""
    generators: str = "-"
    """what is seeded besides Python's own generator"""
    shows: str = "-"
    """global variables that are printed at its end: what it kept but did not print"""
    leaves: tuple[str, ...] = ()
    """files that it writes into its own folder, as patterns"""
    typed: str = ""
    """what its user types"""
    beside: tuple[str, ...] = ()
    """files of ours that are put beside the script; it may be one of them"""
    varies: tuple[str, ...] = ()
    """patterns of text that differs from run to run: clocks"""


TWENTY = ("MAX_EPS = 1000", "MAX_EPS = 20")
SECONDS = r"\d+\.\d+ ?(s|%|eps/sec|episodes/sec)"

PROGRAMS = (
    Program(
        "Cardiff, the challenge's winner: evaluation.py",
        "cardiff-cage-2",
        "ddbf3e5",
        "evaluation.py",
        episodes=180,
        edits=(TWENTY,),
    ),
    Program(
        "Cardiff: train.py",
        "cardiff-cage-2",
        "ddbf3e5",
        "train.py",
        episodes=60,
        edits=(
            ("max_episodes = 100000", "max_episodes = 60"),
            ("update_timesteps = 20000", "update_timesteps = 2000"),
            ("print_interval = 50", "print_interval = 5"),
            ("save_interval = 200", "save_interval = 20"),
        ),
        leaves=("Models/bline/[0-9]*.pth",),
    ),
    Program(
        "workflow search: evaluation.py",
        "cage2-workflow-search-rl",
        "98b369d",
        "evaluation.py",
        episodes=180,
        edits=(TWENTY,),
    ),
    Program(
        "workflow search: sequential_train_workflow_rl.py",
        "cage2-workflow-search-rl",
        "98b369d",
        "workflow_rl/sequential_train_workflow_rl.py",
        episodes=40,
        arguments=(
            "--scenario",
            "{package}/Shared/Scenarios/Scenario2.yaml",
            "--total-episodes",
            "40",
            "--episodes-per-update",
            "10",
            "--max-episodes",
            "20",
            "--checkpoint-dir",
            "trained",
        ),
        seed=7,
        generators="numpy,torch",
        leaves=("trained/*.csv", "trained/*.pt"),
        varies=(SECONDS, r"\(\d+\.\d+%\)"),
    ),
    Program(
        "CSE 233, a Red client: red_evaluation_static.py",
        "CSE233_Cage2_Project",
        "019f185",
        "red_evaluation_static.py",
        episodes=100,
        seed=153,
        generators="torch",
        shows="total_reward,actions",
    ),
    Program(
        "CSE 233, a Red client: red_evaluation.py",
        "CSE233_Cage2_Project",
        "019f185",
        "red_evaluation.py",
        episodes=100,
        seed=153,
        generators="torch",
        shows="total_reward,actions",
    ),
    Program(
        "the challenge: Evaluation/evaluation.py, an agent on bits",
        "",
        "",
        "CybORG/Evaluation/evaluation.py",
        episodes=180,
        edits=(
            ("MAX_EPS = 100", "MAX_EPS = 20"),
            (
                "from CybORG.Agents.SimpleAgents.BlueLoadAgent import BlueLoadAgent",
                "from quick_restore import QuickRestore as BlueLoadAgent",
            ),
        ),
        seed=153,
        typed="A name\nA team\nA technique\n",
        beside=("quick_restore.py",),
    ),
    Program(
        "the challenge: Evaluation/evaluation.py, BlueReactRestoreAgent on dicts",
        "",
        "",
        "CybORG/Evaluation/evaluation.py",
        episodes=180,
        edits=(
            ("MAX_EPS = 100", "MAX_EPS = 20"),
            ("from CybORG.Agents.SimpleAgents.BlueLoadAgent import BlueLoadAgent\n", ""),
            ("BlueReactRemoveAgent", "BlueReactRestoreAgent"),
            ("BlueLoadAgent()", "BlueReactRestoreAgent()"),
            ("observation = wrapped_cyborg.reset()", "observation = cyborg.reset('Blue').observation"),
            ("= wrapped_cyborg.get_action_space", "= cyborg.get_action_space"),
            (
                "observation, rew, done, info = wrapped_cyborg.step(action)",
                "result = cyborg.step(agent_name, action); observation, rew = result.observation, result.reward",
            ),
        ),
        seed=153,
        typed="A name\nA team\nA technique\n",
    ),
    Program(
        "CageLLM: train_ppoicm.py",
        "CageLLM",
        "8d6b067",
        "Agents/train_ppoicm.py",
        episodes=20,
        edits=(
            ("max_episodes = 500000", "max_episodes = 20"),
            ("update_timesteps = 20000", "update_timesteps = 500"),
            ("print_interval = 50", "print_interval = 5"),
            ("save_interval = 500", "save_interval = 10"),
        ),
        leaves=("rewards/*.csv", "Models/ppo_icm_agent/[12]0.pth"),
    ),
    Program(
        "KEEP: its graph wrapper, actions at random",
        "CAGE-2_KEEP-Agent",
        "60745c2",
        "keep_graphs.py",
        episodes=10,
        beside=("keep_graphs.py",),
    ),
)
