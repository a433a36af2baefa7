import { holds, isPattern } from '../../engine/kit.ts'
import type { Catalog, Ingress, Json, ModelRecord, Principal, Reply } from '../../engine/index.ts'

/** A model that nobody knows the birthday of: both official clients take the epoch for that. */
const UNKNOWN_DATE = { created: 0, created_at: '1970-01-01T00:00:00Z' }

/** Whether a client reads lists as the messages API writes them: its SDKs always send this header. */
export function readsMessages({ headers }: Ingress): boolean {
  return headers['anthropic-version'] !== undefined
}

/** A model as the client reads it. */
export function entryOf({ name, provider }: ModelRecord, messages: boolean): Json {
  return messages
    ? { type: 'model', id: name, display_name: name, created_at: UNKNOWN_DATE.created_at, provider }
    : { id: name, object: 'model', created: UNKNOWN_DATE.created, owned_by: provider, provider }
}

/** Whether a client may know of a model: it is one, its key allows it, and a provider serves it. */
export function isListed({ name, provider }: ModelRecord, { models }: Principal, catalog: Catalog): boolean {
  // A record for many models is none that anybody could ask for.
  if (isPattern(name)) return false
  if (models !== undefined && !holds(models, name)) return false
  const open = catalog.provider(provider)
  return open !== undefined && open.off === undefined
}

/** A whole answer. */
export function replyOf(value: Json): Reply {
  return { status: 200, headers: {}, body: { kind: 'json', value } }
}
