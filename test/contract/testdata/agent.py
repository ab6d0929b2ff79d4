# Uses the MCP server of docs/interface.md as an agent does. The argument is the body of a create.
import asyncio
import json
import sys

from fastmcp import Client

from recipe import mcp

create = json.loads(sys.argv[1])


async def use(agent):
    async def call(tool, **arguments):
        result = await agent.call_tool(tool, arguments, raise_on_error=False)
        return result.is_error, "".join(part.text for part in result.content)

    tools = {tool.name: tool.input_schema for tool in await agent.list_tools()}
    assert {"id", "name"} <= set(tools["createPlant"]["required"]) <= set(create), tools
    assert set(tools["listPlants"]["properties"]) == {"limit", "cursor", "include"}, tools
    assert tools["deletePlant"]["properties"]["id"]["type"] == "integer", tools

    ids = [-(2**63), 2**63 - 1]
    for id in ids:
        failed, text = await call("createPlant", **create | {"id": id})
        assert not failed and json.loads(text) | {"id": create["id"]} == create, text
    failed, text = await call("createPlant", **create | {"id": ids[0], "name": "Fern"})
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
