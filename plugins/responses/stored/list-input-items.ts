import { GatewayError, defineStage, noConfig } from '../../../engine/index.ts'
import type { Ingress, JsonObject } from '../../../engine/index.ts'
import { without } from '../values.ts'
import { askedFor, wholeNumber } from './asked.ts'
import { readWhole } from './chain.ts'
import { recordedInput } from './conversation.ts'
import { idOf } from './record.ts'

/** Lists the input items of the response named by `:response_id`, newest first by default. */
export default defineStage({
  name: 'list-input-items',
  summary: 'List the input items of a stored response.',
  config: noConfig,
  needs: ['ingress', 'principal'],
  provides: ['reply'],
  build:
    (_, host) =>
    async ({ ingress, principal }) => {
      const limit = wholeNumber(ingress, 'limit', 1, 100) ?? 20
      const ascending = isAscending(ingress)
      const { record } = await askedFor(ingress, principal, host)
      const { before, input } = (await readWhole(host.keyValue, record)) ?? { ...record, before: [] }
      const items = recordedInput([...before, ...input], idOf(record))
      const all = ascending ? items : items.toReversed()
      const value = page(all, ingress.query.get('after'), limit, shows(ingress))
      return { reply: { status: 200, headers: {}, body: { kind: 'json', value } } }
    },
})

function isAscending({ query }: Ingress): boolean {
  const order = query.get('order') ?? 'desc'
  if (order === 'asc' || order === 'desc') return order === 'asc'
  throw new GatewayError('invalid_value', { param: 'order', reason: 'it must be "asc" or "desc"' })
}

const ciphertext = new Set(['encrypted_content'])

/** Items in the client's form: sealed reasoning only if the client includes it. */
function shows({ query }: Ingress): (item: JsonObject) => JsonObject {
  const include = [...query.getAll('include'), ...query.getAll('include[]')]
  if (include.includes('reasoning.encrypted_content')) return (item) => item
  return (item) => (item['type'] === 'reasoning' ? without(item, ciphertext) : item)
}

function page(
  items: readonly JsonObject[],
  after: string | null,
  limit: number,
  show: (item: JsonObject) => JsonObject,
): JsonObject {
  const last = after === null ? -1 : items.findIndex(({ id }) => id === after)
  if (after !== null && last < 0)
    throw new GatewayError('invalid_value', { param: 'after', reason: 'the list has no item with this id' })
  const data = items.slice(last + 1, last + 1 + limit)
  return {
    object: 'list',
    data: data.map(show),
    first_id: data.at(0)?.['id'] ?? null,
    last_id: data.at(-1)?.['id'] ?? null,
    has_more: last + 1 + limit < items.length,
  }
}
