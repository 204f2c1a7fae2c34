"""LangGraph's prebuilt ReAct agent."""

from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from langgraph.prebuilt import create_react_agent

from measure import INSTRUCTIONS, measure


def setup(work, lookup):
    @tool("lookup")
    async def find(key: str) -> str:
        """Looks up an item by its key."""
        return lookup.find(key)

    model = ChatOpenAI(model="bench", base_url=work.base_url, api_key="none")
    agent = create_react_agent(model, [find], prompt=INSTRUCTIONS)
    limit = {"recursion_limit": 2 * work.steps + 1}

    async def run(question):
        ended = await agent.ainvoke({"messages": [("user", question)]}, limit)
        return ended["messages"][-1].content

    return lambda: run


measure("langgraph", setup)
