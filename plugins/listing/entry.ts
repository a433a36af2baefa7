import type { Ingress, Json, ModelRecord, Reply, Services } from '../../engine/index.ts'
import { virtualModels } from '../../engine/kit.ts'

/** Creation date of a model whose date is unknown: both official clients read the epoch as unknown. */
const UNKNOWN_DATE = { created: 0, created_at: '1970-01-01T00:00:00Z' }

/** Whether a client expects lists in the format of the messages API: its SDKs always send this header. */
export function readsMessages({ headers }: Ingress): boolean {
  return headers['anthropic-version'] !== undefined
}

/** A model as lists name it. */
export type Listed = Pick<ModelRecord, 'name' | 'provider'>

/** The virtual models, for every key while smart routing is on. */
export function virtualOnes({ enabled }: Services['smart_routing']): readonly Listed[] {
  return enabled ? virtualModels.map((name) => ({ name, provider: 'routing' })) : []
}

/** A model in the client's format. */
export function entryOf({ name, provider }: Listed, messages: boolean): Json {
  return messages
    ? { type: 'model', id: name, display_name: name, created_at: UNKNOWN_DATE.created_at, provider }
    : { id: name, object: 'model', created: UNKNOWN_DATE.created, owned_by: provider, provider }
}

/** A buffered JSON reply. */
export function replyOf(value: Json): Reply {
  return { status: 200, headers: {}, body: { kind: 'json', value } }
}
