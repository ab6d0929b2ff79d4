// Uses a client generated from the OpenAPI document: creates plants, lists them
// page by page, deletes them, and shows how JavaScript rounds ids beyond 2^53.
//
//   node main.js http://127.0.0.1:8080 "$TOKEN"

import createClient from "openapi-fetch";
import type { components, paths } from "./plants.js";

const [address, token] = process.argv.slice(2);
if (address === undefined || token === undefined) {
  throw new Error("usage: node main.js ADDRESS TOKEN");
}
const headers = { Authorization: `Bearer ${token}` };
const client = createClient<paths>({ baseUrl: address, headers });

type Plant = components["schemas"]["ListedPlant"];
type Failure = components["schemas"]["Error"] | components["schemas"]["GatewayMessage"];

// describe returns what went wrong. Errors of API Gateway have no code.
function describe(failure: Failure): string {
  return "error" in failure ? `error ${failure.error}, ${failure.message}` : failure.message;
}

function fail(failure: Failure): never {
  throw new Error(describe(failure));
}

// create returns the id of a new plant: random, and exact in JavaScript.
async function create(name: string): Promise<number> {
  const id = Math.floor(Math.random() * Number.MAX_SAFE_INTEGER);
  const { data, error } = await client.POST("/plants", { body: { id, name, tag: "herb" } });
  if (error) fail(error);
  if (data.name !== name || data.tag !== "herb") {
    throw new Error(`created ${JSON.stringify(data)}`);
  }
  return id;
}

// list returns all plants with their ids, and the number of pages.
async function list(limit: number): Promise<{ all: Plant[]; pages: number }> {
  const all: Plant[] = [];
  let cursor: string | undefined;
  for (let pages = 1; ; pages++) {
    const query = { limit, include: "id" as const, ...(cursor !== undefined && { cursor }) };
    const { data, error, response } = await client.GET("/plants", { params: { query } });
    if (error) fail(error);
    all.push(...data);
    cursor = next(response.headers.get("Link"));
    if (cursor === undefined) return { all, pages };
  }
}

// next returns the cursor in a Link header, or undefined without one.
function next(link: string | null): string | undefined {
  const target = link?.match(/^<([^>]*)>/)?.[1];
  return target === undefined ? undefined : (new URL(target, address).searchParams.get("cursor") ?? undefined);
}

async function remove(id: number): Promise<Failure | undefined> {
  const { error } = await client.DELETE("/plants/{id}", { params: { path: { id } } });
  return error;
}

const ids: number[] = [];
for (let i = 0; i < 5; i++) ids.push(await create(`Basil ${i}`));
console.log(`created ${ids.length} plants`);

const { all, pages } = await list(2);
for (const id of ids) {
  if (!all.some((plant) => plant.id === id)) throw new Error(`plant ${id} was created, but is not listed`);
}
console.log(`listed ${all.length} plants in ${pages} pages`);

for (const id of ids) {
  const error = await remove(id);
  if (error) fail(error);
}
console.log(`deleted ${ids.length} plants`);

const again = await remove(ids[0]!);
if (again === undefined || !("error" in again) || again.error !== 40400) throw new Error("deleted a plant twice");
console.log(`deleting one again: ${describe(again)}`);

// A plant from another client, whose id is not a JavaScript number. JSON.parse
// silently rounds it. Rounded ids are never safe integers.
const exact = "9007199254740993"; // 2^53 + 1
const made = await fetch(`${address}/plants`, {
  method: "POST",
  headers: { ...headers, "Content-Type": "application/json" },
  body: `{"id": ${exact}, "name": "Baobab"}`,
});
if (!made.ok) fail((await made.json()) as Failure);

const rounded = (await list(100)).all.find((plant) => plant.name === "Baobab")?.id;
if (rounded === undefined || String(rounded) === exact || Number.isSafeInteger(rounded)) {
  throw new Error(`id ${exact} was read as ${rounded}`);
}
const missed = await remove(rounded);
if (missed === undefined) throw new Error(`plant ${rounded} is not ours`);
console.log(`id ${exact} was read as ${rounded}; deleting that: ${describe(missed)}`);

const removed = await fetch(`${address}/plants/${exact}`, { method: "DELETE", headers });
console.log(`deleting ${exact}: status ${removed.status}`);
