import { defineStage, noConfig } from '../../../engine/index.ts'
import type { Candidate, Envelope, Json, JsonObject } from '../../../engine/index.ts'
import { itemId, responseId } from '../response.ts'
import { protocol } from '../values.ts'
import { compactionContext, isTrigger, isUserMessage, sealPack } from './compaction.ts'
import { inputItems, partsOf } from './conversation.ts'
import { ownerOf } from './record.ts'

/** Usage of zero, because no model ran. */
const usage = {
  input_tokens: 0,
  input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
  output_tokens: 0,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: 0,
}
const none = { input: 0, cacheRead: 0, cacheWrite: 0, output: 0, reasoning: 0 }

/**
 * Compacts a conversation locally, for models whose provider cannot. The user messages stay readable, and the whole
 * conversation is packed into an item that only the same API key can use. Nothing is lost or summarized. Compaction
 * triggers are left out, because this compaction answers them.
 */
export default defineStage({
  name: 'compact-locally',
  summary: 'Pack the conversation into a sealed item that only the same API key can use.',
  config: noConfig,
  needs: ['principal', 'request'],
  reads: ['candidates'],
  provides: ['reply', 'measurement'],
  uses: ['guards'],
  build:
    (_, host, { guards }) =>
    async ({ principal, request, candidates = [] }, scope) => {
      refuseUnknown(request, candidates)
      const items = inputItems(request.body['input']).filter((item) => !isTrigger(item))
      const messages = items.filter(isUserMessage).map((item, index) => shown(item, itemId('msg', scope.id, index)))
      const owner = ownerOf(principal)
      const context = compactionContext(owner)
      const pack = { items, kept: messages.map(({ id }) => id), tokens: guards.sealedTokens(scope, owner) }
      const encrypted_content = await sealPack(pack, (bytes) => host.seal(bytes, context))
      scope.note('compaction', 'local')
      const value: Json = {
        id: responseId(scope.id),
        object: 'response.compaction',
        created_at: Math.floor(Date.now() / 1000),
        output: [...messages, { type: 'compaction', id: itemId('cmp', scope.id, messages.length), encrypted_content }],
        usage,
      }
      return {
        reply: { status: 200, headers: {}, body: { kind: 'json', value } },
        measurement: { read: () => ({ usage: none, complete: true, losses: [] }) },
      }
    },
})

/**
 * Rejects a conversation of which a part is unknown here. A compaction of the provider itself may stay, because the
 * provider can read it.
 */
function refuseUnknown({ missing }: Envelope, [first]: readonly Candidate[]): void {
  const speaks = first?.provider.offers.some((offer) => offer.protocol === protocol)
  if (missing && !(speaks && missing.code === 'invalid_encrypted_content')) throw missing
}

/** A user message in the form of an answer, with all fields. */
function shown(item: JsonObject, minted: string): JsonObject & { readonly id: string } {
  const { id } = item
  return {
    ...item,
    type: 'message',
    id: typeof id === 'string' && id !== '' ? id : minted,
    status: 'completed',
    content: partsOf(item),
  }
}
