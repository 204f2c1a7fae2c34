"""udspy's ReAct."""

import udspy
from pydantic import Field
from udspy import InputField, OutputField, ReAct, Signature, tool

from measure import measure


def setup(work, lookup):
    @tool(name="lookup", description="Looks up an item by its key.")
    async def find(key: str = Field(...)) -> str:
        return lookup.find(key)

    class Answering(Signature):
        """Answer the question with the tools at hand."""

        question: str = InputField()
        answer: str = OutputField()

    lm = udspy.LM(model="bench", api_key="none", base_url=work.base_url)
    udspy.settings.configure(lm=lm)

    def worker():
        # An agent keeps the state of its run, so runs at a time need one each.
        agent = ReAct(Answering, tools=[find], max_iters=work.steps)

        async def run(question):
            return (await agent.aexecute(question=question)).answer

        return run

    return worker


measure("udspy", setup)
