import { defineStage, noConfig } from '../../engine/index.ts'
import { moduleBeside } from '../../engine/kit.ts'
import type { Host, JsonObject, Loss } from '../../engine/index.ts'
import type { CountOutput } from './count.ts'
import { estimate } from './estimate.ts'
import { gatherContents, gatherItems } from './gather-items.ts'
import { gather } from './gather.ts'
import type { Gathered } from './gathering.ts'

const counter = moduleBeside('count', import.meta.url)

/** Milliseconds that a client waits for the exact count. */
const patience = 250
/** Milliseconds that a worker may count, and after which it must be stuck. A late count still warms the cache. */
const budget = 150
const stuck = 10_000
/** Most characters that are sent to a worker. */
const characters = 4_000_000

/** How to gather the requests of a protocol, and its answer; default: messages. */
interface Counting {
  readonly gather: (body: JsonObject) => Gathered
  readonly answer: (tokens: number) => JsonObject
}

const usual: Counting = { gather, answer: (tokens) => ({ input_tokens: tokens }) }
const countings: ReadonlyMap<string, Counting> = new Map([
  [
    'input-tokens',
    { gather: gatherItems, answer: (tokens) => ({ object: 'response.input_tokens', input_tokens: tokens }) },
  ],
  ['gemini-count-tokens', { gather: gatherContents, answer: (tokens) => ({ totalTokens: tokens }) }],
])

/** Counts the tokens of a request locally, for providers that cannot count. */
export default defineStage({
  name: 'estimate-tokens',
  summary: 'Count input tokens with o200k_base in a worker; images and documents by rule.',
  config: noConfig,
  needs: ['request'],
  provides: ['reply', 'measurement'],
  build: (_, host) => {
    const counting = countings.get(host.pipeline.protocol ?? '') ?? usual
    return async ({ request }, scope) => {
      if (request.missing) throw request.missing
      const { texts, media } = counting.gather(request.body)
      const { tokens, exact } = await counted(texts, host)
      scope.note('token_count', exact ? 'o200k_base' : 'estimate')
      const losses = uncounted(request.body)
      return {
        reply: {
          status: 200,
          headers: losses.length > 0 ? { 'x-gateway-losses': losses.map(({ field }) => field).join(', ') } : {},
          body: { kind: 'json', value: counting.answer(tokens + media) },
        },
        measurement: { read: () => ({ complete: true, losses }) },
      }
    }
  },
})

/** Losses of a request that refers to content only its provider has. */
function uncounted({ conversation = null }: JsonObject): readonly Loss[] {
  return conversation === null ? [] : [{ field: 'conversation', because: 'what it holds is not known here' }]
}

/** The exact count if a worker finishes in time, otherwise the upper estimate. */
async function counted(texts: readonly string[], host: Host): Promise<CountOutput> {
  const estimated = () => ({ tokens: texts.reduce((sum, text) => sum + estimate(text), 0), exact: false })
  if (texts.reduce((sum, { length }) => sum + length, 0) > characters) return estimated()
  const late = Promise.withResolvers<CountOutput>()
  const timer = setTimeout(() => late.resolve(estimated()), patience)
  try {
    return await Promise.race([host.work<CountOutput>(counter, { texts, budget }, stuck), late.promise])
  } catch (error) {
    host.log.warn({ err: error }, 'tokens are estimated: the worker pool has no count')
    return estimated()
  } finally {
    clearTimeout(timer)
  }
}
