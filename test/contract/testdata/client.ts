// What a user does with the TypeScript client of @hey-api/openapi-ts, which checks requests
// and responses with zod. The arguments are the base address, a token and plants.
import { deepStrictEqual as equal } from 'node:assert'
import { client } from './generated/client.gen'
import { createPlant, deletePlant, listPlants } from './generated/sdk.gen'
import type { NewPlant } from './generated/types.gen'

const [baseUrl, auth, text] = process.argv.slice(2) as [string, string, string]
const plants: NewPlant[] = JSON.parse(text)
client.setConfig({ baseUrl, auth, throwOnError: true })

// known returns a plant without the member that the test's proxy adds.
const known = (plant: object) => JSON.parse(JSON.stringify({ ...plant, later: undefined }))

async function main() {
  for (const plant of plants) {
    const { data } = await createPlant({ body: plant, throwOnError: true })
    equal(known(data), known({ ...plant, id: undefined }))
  }
  const { data } = await listPlants({ query: { include: 'id' }, throwOnError: true })
  equal(data.map(known), plants)
  for (const { id } of plants) await deletePlant({ path: { id }, throwOnError: true })
  const again = await deletePlant({ path: { id: plants[0]!.id }, throwOnError: false })
  equal((again.error as { error: number }).error, 40400)
}

main().catch(e => {
  console.error(e)
  process.exit(1)
})
