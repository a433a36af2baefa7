import { setTimeout as wait } from 'node:timers/promises'
import { defineStage, noConfig } from '../../../engine/index.ts'
import { asGatewayError } from '../../../engine/kit.ts'
import type { Given, JsonObject, KeyValue, Outcome, Reply } from '../../../engine/index.ts'
import { object, text } from '../values.ts'
import { indexItems } from './item-index.ts'
import { servedBy, unchanged } from './save-response.ts'
import { deletePending, responseOf } from './pending.ts'
import { readResponse, writeResponse } from './record.ts'
import type { StoredResponse } from './record.ts'

type Slots = Given<'outcome' | 'job', 'reply' | 'model' | 'measurement'>

/** Milliseconds between two tries to reach the store, and in total. */
const pause = 250
const patience = 60_000

/**
 * Stores the final state of a background response, but only over one in progress: a response that was cancelled
 * meanwhile, or failed because its process seemed lost, stays unchanged.
 */
export default defineStage({
  name: 'settle-response',
  summary: 'Store the final state of a background response that is still in progress.',
  config: noConfig,
  needs: ['outcome', 'job'],
  reads: ['reply', 'model', 'measurement'],
  provides: [],
  uses: ['guards'],
  // It waits for the store up to three times.
  timeout: '4m',
  build:
    (_, { keyValue, log }, { guards }) =>
    async (slots, scope) => {
      const id = responseOf(slots.job.input)
      const tokens = (owner: string) => guards.sealedTokens(scope, owner)
      const settled = await patiently(() => settle(keyValue, id, slots, tokens))
      if (typeof settled !== 'string') await patiently(() => indexItems(keyValue, settled))
      else if (slots.outcome.error?.code !== 'cancelled') {
        scope.note('refused', settled)
        log.info({ id: scope.id, status: settled }, 'the end of a response came too late and is not kept')
      }
      await patiently(() => deletePending(keyValue, id))
      return {}
    },
})

/** Returns what was written; if nothing was, the current status of the response. */
async function settle(
  keyValue: KeyValue,
  id: string,
  slots: Slots,
  tokens: (owner: string) => string | undefined,
): Promise<StoredResponse | string> {
  const found = await readResponse(keyValue, id)
  if (!found || found.record.deleted) return 'deleted'
  const { version } = found
  const record = { ...found.record, tokens: tokens(found.record.keyId) ?? found.record.tokens }
  const { status } = record.response
  if (status !== 'in_progress') return text(status) ?? 'unknown'
  const refused = failed(record, 'server_error', 'The response is too large to be kept.')
  // Whatever the answer was, a stored response can also end.
  for (const ended of [endedAs(record, slots), refused, { ...refused, input: [] }]) {
    const unkept = await writeResponse(keyValue, ended, { version })
    if (unkept === undefined) return ended
    // Another process has ended it first.
    if (unkept === 'taken') return settle(keyValue, id, slots, tokens)
  }
  return 'too large'
}

function endedAs(record: StoredResponse, { outcome, reply, model, measurement }: Slots): StoredResponse {
  const { error } = outcome
  if (error?.code === 'cancelled') return { ...record, response: { ...record.response, status: 'cancelled' } }
  if (error) return failed(record, errorCode(outcome), error.message)
  const response = unchanged(measurement) ?? (reply && responseIn(reply))
  if (!response) return failed(record, 'server_error', 'The provider gave no response.')
  const { id, created_at: created, background } = record.response
  return {
    ...record,
    response: { ...response, id, created_at: created, background },
    ...servedBy(model, measurement),
  }
}

function responseIn({ body }: Reply): JsonObject | undefined {
  return body.kind === 'json' ? object(body.value) : undefined
}

function failed(record: StoredResponse, code: string, message: string): StoredResponse {
  return { ...record, response: { ...record.response, status: 'failed', error: { code, message } } }
}

/** `error.code` of a response: a fitting code of the vendor, otherwise our own. */
function errorCode({ status, error }: Outcome): string {
  const code = error?.code ?? 'server_error'
  if (code === 'worker_lost') return code
  if (status === 429) return 'rate_limit_exceeded'
  if (status >= 500) return 'server_error'
  return code === 'upstream_rejected' ? 'invalid_prompt' : code
}

/** Retries while the store cannot be reached. Rejects with `store_unavailable` when that takes too long. */
async function patiently<T>(work: () => Promise<T>): Promise<T> {
  const end = performance.now() + patience
  for (;;) {
    try {
      return await work()
    } catch (error) {
      if (asGatewayError(error).code !== 'store_unavailable' || performance.now() > end) throw error
      await wait(pause)
    }
  }
}
