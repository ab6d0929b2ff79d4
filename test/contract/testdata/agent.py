# Uses the MCP server of docs/interface.md as an agent does.
import asyncio
import json

from fastmcp import Client

from recipe import mcp


async def use(agent):
    async def call(tool, **arguments):
        result = await agent.call_tool(tool, arguments, raise_on_error=False)
        return result.is_error, "".join(part.text for part in result.content)

    tools = {tool.name: tool.input_schema for tool in await agent.list_tools()}
    assert set(tools["createPlant"]["required"]) == {"id", "name"}, tools
    assert set(tools["listPlants"]["properties"]) == {"limit", "cursor", "include"}, tools
    assert tools["deletePlant"]["properties"]["id"]["type"] == "integer", tools

    ids = [-(2**63), 2**63 - 1]
    for id in ids:
        failed, text = await call("createPlant", id=id, name="Basil", tag="")
        assert not failed and json.loads(text) == {"name": "Basil", "tag": ""}, text
    failed, text = await call("createPlant", id=ids[0], name="Fern")
    assert failed and "another plant with this id" in text, text
    failed, text = await call("listPlants", include="id", limit=100)
    found = json.loads(text)
    found = found.get("result", found) if isinstance(found, dict) else found
    assert not failed and [plant["id"] for plant in found] == ids, text
    for id in ids:
        failed, text = await call("deletePlant", id=id)
        assert not failed, text
    failed, text = await call("deletePlant", id=ids[0])
    assert failed and "404" in text, text


async def main():
    async with Client(mcp) as agent:
        await use(agent)


asyncio.run(main())
