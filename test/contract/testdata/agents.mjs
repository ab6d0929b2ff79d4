// Converts the document to tools for agents, and to a client, as programs in JavaScript do.
import assert from 'node:assert'
import SwaggerParser from '@apidevtools/swagger-parser'
import { HttpLlm, OpenApi } from '@samchon/openapi'
import * as librechat from 'librechat-data-provider'
import { OpenAPIClientAxios } from 'openapi-client-axios'

const [address, token, create] = process.argv.slice(2)
const { id, ...plant } = JSON.parse(create)
const document = await SwaggerParser.parse('openapi.yaml')

// LibreChat looks for the members of a body only in its own properties.
const { functionSignatures } = librechat.openapiToFunction(document, true)
const tools = Object.fromEntries(functionSignatures.map(f => [f.name, f.parameters.properties]))
assert.deepEqual(new Set(Object.keys(tools.createPlant)), new Set(['id', ...Object.keys(plant)]))
assert.deepEqual(Object.keys(tools.listPlants), ['limit', 'cursor', 'include'])
assert.equal(tools.deletePlant.id.type, 'integer')
const { isValid, message } = librechat.validateActionDomain('http://127.0.0.1:8080', document.servers[0].url)
assert(isValid, message)

// samchon drops parameters that are referenced, and operations with long descriptions. It has
// the query and the body in an argument each.
const { functions, errors } = HttpLlm.application({ document: OpenApi.convert(document) })
assert.deepEqual(errors, [])
for (const { operation, parameters } of functions) {
  const { query, body, ...path } = parameters.properties
  const { $ref } = query ?? body ?? {}
  const properties = { ...path, ...$ref && parameters.$defs[$ref.slice('#/$defs/'.length)].properties }
  const name = operation().operationId
  assert.deepEqual(Object.keys(properties), Object.keys(tools[name]))
  if (properties.id) assert.equal(properties.id.type, 'integer', name)
}

const client = await new OpenAPIClientAxios({ definition: document, withServer: { url: address } }).init()
client.defaults.headers.authorization = `Bearer ${token}`
assert.deepEqual((await client.createPlant(null, { id, ...plant })).data, plant)
assert.deepEqual((await client.listPlants({ include: 'id' })).data, [{ id, ...plant }])
assert.equal((await client.deletePlant(id)).status, 204)
