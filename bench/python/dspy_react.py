"""DSPy's ReAct, with its default adapter."""

import dspy

from measure import INSTRUCTIONS, measure


def setup(work, lookup):
    async def find(key: str) -> str:
        return lookup.find(key)

    tool = dspy.Tool(find, name="lookup", desc="Looks up an item by its key.")
    dspy.configure(lm=dspy.LM("openai/bench", api_base=work.base_url, api_key="none", cache=False))
    signature = dspy.Signature("question -> answer", INSTRUCTIONS)
    agent = dspy.ReAct(signature, tools=[tool], max_iters=work.steps)

    async def run(question):
        return (await agent.acall(question=question)).answer

    return lambda: run


measure("dspy-react", setup)
