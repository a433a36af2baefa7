import { defineStage, GatewayError, noConfig } from '../../../engine/index.ts'
import type { Envelope, Host, Ingress, JsonObject, KeyValue, Principal } from '../../../engine/index.ts'
import { text, without } from '../values.ts'
import { compactionContext, expandCompactions, foreignCompaction, isTrigger } from './compaction.ts'
import { conversationOf, inputItems } from './conversation.ts'
import { holderOf } from './item-index.ts'
import { readWhole } from './chain.ts'
import { continues } from './continued.ts'
import { ownerOf, readResponse, sizeOf } from './record.ts'
import type { WholeResponse } from './record.ts'
import { referredBy, resolveReferences } from './references.ts'
import type { Resolved } from './references.ts'
import { Room } from './room.ts'
import { lastOnSocket } from './session.ts'
import { underway } from './underway.ts'

/**
 * Completes the conversation: resolves `previous_response_id` and item references from the client's socket, otherwise
 * from the store. Unknown ids are left to a provider that speaks the protocol itself. Rejects with `request_too_large`
 * if the completed conversation is too large.
 */
export default defineStage({
  name: 'recall',
  summary: 'Complete the conversation with earlier responses.',
  config: noConfig,
  needs: ['ingress', 'principal', 'request'],
  provides: ['request'],
  uses: ['guards'],
  build:
    (_, host, { guards }) =>
    ({ ingress, principal, request }, scope) => {
      if (!refers(request.body)) return { request }
      const tokens = (sealed: string | undefined) => guards.recallTokens(scope, ownerOf(principal), sealed)
      return completed(request, { ingress, principal, tokens }, host)
    },
})

/** Whether the request may refer to earlier responses. */
function refers({ previous_response_id: previous, input }: JsonObject): boolean {
  if (typeof previous === 'string') return true
  return inputItems(input).some(
    (item) => isOutput(item) || item['type'] === 'compaction' || referredBy(item) !== undefined,
  )
}

interface Client {
  readonly ingress: Ingress
  readonly principal: Principal
  /** Takes what tokens of guards stand for in a conversation of which items come, sealed. */
  readonly tokens: (sealed: string | undefined) => void
}

async function completed(request: Envelope, client: Client, host: Host): Promise<{ request: Envelope }> {
  const { body } = request
  const owner = ownerOf(client.principal)
  const { keyValue } = host
  const last = ownedBy(owner, lastOnSocket(client.ingress))
  const id = text(body['previous_response_id'])
  const room = new Room(request.raw.size)
  if (id !== undefined) await underway(host).get(id)
  const { previous, origin, tokens }: Recalled =
    id === undefined ? {} : await recalled(id, last, { owner, keyValue, room })
  client.tokens(previous?.tokens ?? tokens)
  const records = [previous, last].flatMap((record) => record ?? [])
  const given = await resolveReferences(inputItems(body['input']), { records, keyValue, owner, room })
  for (const sealed of given.tokens) client.tokens(sealed)
  const open = (sealed: Uint8Array) => host.unseal(sealed, compactionContext(owner))
  const expanded = await expandCompactions(given.items, { open, room, tokens: client.tokens })
  // An earlier compaction trigger would trigger another compaction now.
  const chain = previous && conversationOf(previous).filter((item) => !isTrigger(item))
  const items = [...(chain ?? []), ...expanded]
  const missing = lacking({ id, origin }, chain, given) ?? foreignCompaction(given.items, expanded)
  if (!missing && (body['conversation'] ?? undefined) === undefined) refuseOrphans(items)
  // Only this gateway can open its own compactions.
  const own = expanded === given.items ? [] : [undefined]
  const holders = [...(previous ? [holderOf(previous)] : []), ...given.holders, ...own]
  if (holders.length === 0) return { request: missing ? request.with({ missing }) : request }
  const [heldBy] = holders
  const whole = { ...(previous ? without(body, continuing) : body), input: items }
  if (previous && chain) continues(whole, { previous, count: chain.length })
  return {
    request: request.with({
      body: whole,
      ...(heldBy !== undefined && holders.every((holder) => holder === heldBy) ? { heldBy } : {}),
      ...(missing ? { missing } : {}),
    }),
  }
}

/** The error for a conversation of which a part is unknown here. */
function lacking(
  { id, origin }: { readonly id: string | undefined; readonly origin: string | undefined },
  chain: readonly JsonObject[] | undefined,
  given: Resolved,
): GatewayError | undefined {
  if (id !== undefined && (!chain || foreignCompaction(chain))) return unknownResponse(id, origin)
  return given.missing
}

const continuing = new Set(['previous_response_id'])

/** The response to continue. */
interface Recalled {
  readonly previous?: WholeResponse | undefined
  /** The only origin that knows the conversation. */
  readonly origin?: string | undefined
  /** What tokens stand for in that conversation, sealed. */
  readonly tokens?: string | undefined
}

/**
 * The response to continue; none if only its provider knows the conversation. A response of another API key, and a
 * deleted one, are unknown, even if a provider knows the id.
 */
async function recalled(
  id: string,
  last: WholeResponse | undefined,
  { owner, keyValue, room }: { readonly owner: string; readonly keyValue: KeyValue; readonly room: Room },
): Promise<Recalled> {
  const near = last?.response['id'] === id ? last : undefined
  const record = near ?? (await readResponse(keyValue, id))?.record
  if (!record) return {}
  if (record.keyId !== owner || record.deleted) throw unknownResponse(id)
  const { status } = record.response
  if (status !== 'completed' && status !== 'incomplete')
    throw new GatewayError(
      'invalid_value',
      { param: 'previous_response_id' },
      {
        message: `The previous response with id "${shown(id)}" cannot be continued: its status is ${text(status) ?? 'unknown'}.`,
      },
    )
  if (record.partial) return { origin: holderOf(record), tokens: record.tokens }
  room.take(sizeOf(record))
  return { previous: near ?? (await readWhole(keyValue, record)) }
}

function ownedBy(owner: string, record: WholeResponse | undefined): WholeResponse | undefined {
  return record?.keyId === owner ? record : undefined
}

function unknownResponse(id: string, origin?: string): GatewayError {
  return new GatewayError('previous_response_not_found', { id: shown(id), origin }, { param: 'previous_response_id' })
}

function shown(id: string): string {
  return id.slice(0, 128)
}

const outputs = new Set(['function_call_output', 'custom_tool_call_output'])

/** Whether an item is the output of a tool that the client ran. */
function isOutput({ type }: JsonObject): boolean {
  return typeof type === 'string' && outputs.has(type)
}

/** Rejects the output of a call that does not exist. */
function refuseOrphans(items: readonly JsonObject[]): void {
  const calls = new Set(
    items.flatMap((item) => (isOutput(item) || text(item['type']) === undefined ? [] : (text(item['call_id']) ?? []))),
  )
  for (const item of items) {
    const id = isOutput(item) ? text(item['call_id']) : undefined
    if (id === undefined || calls.has(id)) continue
    const message = `No tool call found for function call output with call_id ${id.slice(0, 128)}.`
    throw new GatewayError('invalid_value', { param: 'input' }, { message })
  }
}
