import { GatewayError, defineStage, noConfig } from '../../engine/index.ts'
import type { Json } from '../../engine/index.ts'
import { isListed } from '../../engine/kit.ts'
import { entryOf, readerOf, replyOf, virtualOnes } from './entry.ts'
import type { Listed, Reader } from './entry.ts'

/** Lists the virtual models, and then the models that the key may use, in the order of the configuration. */
export default defineStage({
  name: 'list-models',
  summary: 'List the models that the key may use.',
  config: noConfig,
  needs: ['ingress', 'principal'],
  provides: ['reply'],
  uses: ['smart_routing'],
  build:
    (_, { catalog }, { smart_routing: routing }) =>
    ({ ingress, principal }) => {
      const own = catalog.models.filter((model) => isListed(model, principal, catalog))
      const models = [...virtualOnes(routing), ...own]
      return { reply: replyOf(lists[readerOf(ingress)](models, ingress.query)) }
    },
})

/** The list of each client, or the page of it that the client asks for. */
const lists: Readonly<Record<Reader, (models: readonly Listed[], query: URLSearchParams) => Json>> = {
  chat: (models) => ({ object: 'list', data: models.map((model) => entryOf(model, 'chat')) }),
  messages: messagesPage,
  gemini: geminiPage,
}

/** Most models of a page; in messages also the default of `limit`. */
const largest = 1000

/**
 * One page of the list, in the order of the configuration (platform.claude.com/docs/en/api/models-list): after
 * `after_id` or before `before_id`. Throws `invalid_value` for an invalid `limit`, and for a model that is not in the
 * list.
 */
function messagesPage(models: readonly Listed[], query: URLSearchParams): Json {
  const limit = limitOf(query.get('limit'))
  const after = placeOf(models, query, 'after_id') ?? -1
  const before = placeOf(models, query, 'before_id')
  const among = models.slice(after + 1, before)
  const page = before === undefined ? among.slice(0, limit) : among.slice(-limit)
  return {
    data: page.map((model) => entryOf(model, 'messages')),
    first_id: page[0]?.name ?? null,
    last_id: page.at(-1)?.name ?? null,
    has_more: page.length < among.length,
  }
}

function limitOf(given: string | null): number {
  if (given === null) return largest
  const limit = Number(given)
  if (/^\d{1,4}$/.test(given) && limit >= 1 && limit <= largest) return limit
  throw new GatewayError('invalid_value', { param: 'limit', reason: `it must be a number from 1 to ${largest}` })
}

function placeOf(models: readonly Listed[], query: URLSearchParams, param: string): number | undefined {
  const id = query.get(param)
  if (id === null) return undefined
  const at = models.findIndex(({ name }) => name === id)
  if (at < 0) throw new GatewayError('invalid_value', { param, reason: 'it names no model of the list' })
  return at
}

/** Models of a page where a client does not say how many (ai.google.dev/api/models#method:-models.list). */
const usualSize = 50

/** One page of the list, in the order of the configuration. The token of the next page names the last model of this. */
function geminiPage(models: readonly Listed[], query: URLSearchParams): Json {
  const [size, token] = [query.get('pageSize'), query.get('pageToken')]
  if (size !== null && !/^[1-9]\d{0,8}$/.test(size))
    throw new GatewayError('invalid_value', { param: 'pageSize', reason: 'it must be a whole number above 0' })
  const last = token === null ? undefined : Buffer.from(token, 'base64url').toString()
  const start = last === undefined ? 0 : models.findIndex(({ name }) => name === last) + 1
  if (last !== undefined && start === 0)
    throw new GatewayError('invalid_value', { param: 'pageToken', reason: 'it is no token of this list' })
  const page = models.slice(start, start + Math.min(Number(size ?? usualSize), largest))
  const end = page.at(-1)
  return {
    models: page.map((model) => entryOf(model, 'gemini')),
    ...(end && end !== models.at(-1) ? { nextPageToken: Buffer.from(end.name).toString('base64url') } : {}),
  }
}
