"""OpenAI's Agents SDK, over chat completions."""

from agents import Agent, OpenAIChatCompletionsModel, Runner, function_tool, set_tracing_disabled
from openai import AsyncOpenAI

from measure import INSTRUCTIONS, measure


def setup(work, lookup):
    # Its traces would go to OpenAI's servers.
    set_tracing_disabled(True)

    @function_tool(name_override="lookup")
    async def find(key: str) -> str:
        """Looks up an item by its key."""
        return lookup.find(key)

    client = AsyncOpenAI(base_url=work.base_url, api_key="none")
    model = OpenAIChatCompletionsModel(model="bench", openai_client=client)
    agent = Agent(name="bench", instructions=INSTRUCTIONS, tools=[find], model=model)

    async def run(question):
        return (await Runner.run(agent, question, max_turns=work.steps)).final_output

    return lambda: run


measure("openai-agents", setup)
