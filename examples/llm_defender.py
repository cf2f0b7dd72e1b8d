"""A language model defends for one episode: the whole loop, to change as you like.

    python examples/llm_defender.py http://localhost:11434/v1 MODEL

Without an endpoint it prints what a model would be asked. A key, if the server wants one, is read from OPENAI_API_KEY.
`garrison text play` does the same for many episodes, with transcripts, costs and baselines.
"""

import sys

from garrison.text import ActionRefused, Endpoint, TextEnv, instructions, read_action, tool

CHANCES = 3


def main(url: str = "", model: str = "", length: int = 30) -> None:
    env = TextEnv(red="meander", length=length, view="sentences", history=5, rename="roles")
    observation, _ = env.reset(seed=0)
    system = {"role": "system", "content": instructions(env.names)}
    tools = [tool(env.names)]
    if not url:
        print(f"{system['content']}\n\n{observation}\n\nusage: python {sys.argv[0]} ENDPOINT MODEL")
        return
    endpoint = Endpoint(url, model)
    total, truncated = 0.0, False
    while not truncated:
        messages = [{"role": "user", "content": observation}]
        action = "Sleep"  # what is played if the model names no action
        for _ in range(CHANCES):
            reply = endpoint.ask([system, *messages], tools)
            said = reply.calls[0]["function"] if reply.calls else reply.text
            try:
                read_action(said, env.names)
                action = said
                break
            except ActionRefused as refusal:
                # Nothing was played: the model learns why, and chooses again.
                messages += [{"role": "assistant", "content": str(said)}, {"role": "user", "content": str(refusal)}]
        observation, reward, _, truncated, info = env.step(action)
        total += reward
        print(f"{info['action']:<32} {reward:7.1f} {total:8.1f}")
    print(f"total {total:.1f}")


if __name__ == "__main__":
    is_named = len(sys.argv) == 3 and sys.argv[1].startswith("http")
    main(*sys.argv[1:] if is_named else ())
