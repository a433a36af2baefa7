import type { Ingress, Json, ModelRecord, Reply, Services } from '../../engine/index.ts'
import { virtualModels } from '../../engine/kit.ts'

/** Creation date of a model whose date is unknown: official clients read the epoch as unknown. */
const UNKNOWN_DATE = { created: 0, created_at: '1970-01-01T00:00:00Z' }

/** The protocol of whose vendor a client expects lists. */
export type Reader = 'chat' | 'messages' | 'gemini'

/** Two vendors' SDKs send a header of their own with every request; all other clients read lists as chat clients do. */
export function readerOf({ headers, path }: Ingress): Reader {
  if (path.startsWith('/v1beta/')) return 'gemini'
  if (headers['anthropic-version'] !== undefined) return 'messages'
  return headers['x-goog-api-key'] === undefined ? 'chat' : 'gemini'
}

/** A model as lists name it. */
export type Listed = Pick<ModelRecord, 'name' | 'provider' | 'context_length' | 'max_output_tokens'>

/** The virtual models, for every key while smart routing is on. */
export function virtualOnes({ enabled }: Services['smart_routing']): readonly Listed[] {
  return enabled ? virtualModels.map((name) => ({ name, provider: 'routing' })) : []
}

/** A model in the client's format. */
export function entryOf(model: Listed, reader: Reader): Json {
  const { name, provider, context_length: input, max_output_tokens: output } = model
  switch (reader) {
    case 'chat':
      return { id: name, object: 'model', created: UNKNOWN_DATE.created, owned_by: provider, provider }
    case 'messages':
      return { type: 'model', id: name, display_name: name, created_at: UNKNOWN_DATE.created_at, provider }
    case 'gemini':
      return {
        name: `models/${name}`,
        displayName: name,
        ...(input === undefined ? {} : { inputTokenLimit: input }),
        ...(output === undefined ? {} : { outputTokenLimit: output }),
      }
  }
}

/** A buffered JSON reply. */
export function replyOf(value: Json): Reply {
  return { status: 200, headers: {}, body: { kind: 'json', value } }
}
