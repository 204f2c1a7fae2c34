"""PydanticAI's agent."""

from pydantic_ai import Agent, UsageLimits
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

from measure import INSTRUCTIONS, measure


def setup(work, lookup):
    model = OpenAIChatModel("bench", provider=OpenAIProvider(base_url=work.base_url, api_key="none"))
    agent = Agent(model, instructions=INSTRUCTIONS)

    @agent.tool_plain(name="lookup")
    async def find(key: str) -> str:
        """Looks up an item by its key."""
        return lookup.find(key)

    limits = UsageLimits(request_limit=work.steps)

    async def run(question):
        return (await agent.run(question, usage_limits=limits)).output

    return lambda: run


measure("pydantic-ai", setup)
