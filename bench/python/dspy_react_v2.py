"""DSPy's ReActV2, with native tool calls."""

import dspy

from measure import INSTRUCTIONS, measure


def setup(work, lookup):
    async def find(key: str) -> str:
        return lookup.find(key)

    tool = dspy.Tool(find, name="lookup", desc="Looks up an item by its key.")
    # A name of which litellm knows that the model calls tools.
    lm = dspy.LM("openai/gpt-4o-mini", api_base=work.base_url, api_key="none", cache=False)
    dspy.configure(lm=lm, adapter=dspy.ChatAdapter(use_native_function_calling=True))
    signature = dspy.Signature("question -> answer", INSTRUCTIONS)
    agent = dspy.ReActV2(signature, tools=[tool], max_iters=work.steps)

    async def run(question):
        return (await agent.acall(question=question)).answer

    return lambda: run


measure("dspy-react-v2", setup)
