import type { FromSchema } from 'json-schema-to-ts'
import { GatewayError, defineProvider } from '../../engine/index.ts'
import { collect, duration, durationSchema } from '../../engine/kit.ts'
import type { CustomTool, FunctionTool, GenerateEvent, GenerateRequest, Item, Scope } from '../../engine/index.ts'
import { decided } from './echo-decisions.ts'
import { embedded } from './echo-vectors.ts'
import { pieces, textOf, tokensOf, toolFor, wordsOf } from './echo-words.ts'

const config = {
  type: 'object',
  additionalProperties: false,
  properties: {
    delay: { ...durationSchema, default: '0ms', description: 'Time to wait before each piece.' },
    chunk_size: { type: 'integer', minimum: 1, default: 1, description: 'Words per piece of a stream.' },
    fail: {
      type: 'object',
      additionalProperties: false,
      description: 'Fails every answer: before it begins, or after some pieces.',
      properties: {
        status: {
          type: 'integer',
          minimum: 400,
          maximum: 599,
          default: 503,
          description: 'Status of the failure.',
        },
        after: { type: 'integer', minimum: 1, description: 'Number of pieces before the failure.' },
      },
    },
  },
} as const

type Config = FromSchema<typeof config>

/** Repeats the user's text, or calls a requested tool. Needs neither network nor account. */
export default defineProvider({
  name: 'echo',
  summary: "Repeats the user's text, for trying things out and for tests.",
  config,
  offers: () => [{ operation: 'generate' }, { operation: 'decide' }, { operation: 'embed', protocol: 'embeddings' }],
  open: (config) => ({
    answer: {
      generate: (request, model, scope) => echo(config, request, model, scope),
      async decide(request, model, scope) {
        if (config.fail) throw scripted(config.fail.status, model)
        await pause(duration(config.delay), scope)
        return decided(request, model)
      },
    },
    send: async ({ body }) => embedded(await collect(body.open(), body.size)),
  }),
})

async function* echo(
  config: Config,
  request: GenerateRequest,
  model: string,
  scope: Scope,
): AsyncGenerator<GenerateEvent> {
  const { fail } = config
  if (fail && fail.after === undefined) throw scripted(fail.status, model)
  const tool = toolFor(request)
  const words = wordsOf(request, tool)
  const said = words.slice(0, 4 * (request.maxOutputTokens ?? Infinity))
  const item: Item = tool
    ? { type: 'call', kind: tool.type, callId: `call_${scope.id}`, ...nameOf(tool), input: '' }
    : { type: 'message', role: 'assistant', content: [] }

  yield { type: 'start', id: `echo_${scope.id}`, model }
  yield { type: 'item', index: 0, item }
  if (!tool) yield { type: 'part', index: 0, kind: 'text' }
  for (const [index, text] of pieces(said, config.chunk_size).entries()) {
    await pause(duration(config.delay), scope)
    if (index === fail?.after) return yield { type: 'failure', failure: scripted(fail.status, model).failure }
    yield { type: 'delta', index: 0, text }
  }
  yield { type: 'item-end', index: 0 }

  const usage = {
    input: tokensOf(...request.items.map(textOf)),
    cacheRead: 0,
    cacheWrite: 0,
    output: tokensOf(said),
    reasoning: 0,
  }
  const stop = said.length < words.length ? 'length' : tool ? 'tool' : 'end'
  yield { type: 'finish', stop, usage }
}

function nameOf({ name, namespace }: FunctionTool | CustomTool): { name: string; namespace?: string } {
  return namespace === undefined ? { name } : { name, namespace }
}

/** A failure with this status, and with the code and type that the status has for every provider. */
function scripted(status: number, model: string): GatewayError {
  const code = status === 429 ? 'rate_limit_exceeded' : status < 500 ? 'upstream_rejected' : 'upstream_error'
  const reason = code === 'upstream_rejected' ? 'The settings of the provider say so.' : 'its settings say so.'
  return new GatewayError(code, { model, reason }, { status, tags: [String(status)] })
}

/** Waits; rejects with the reason as soon as the exchange is aborted. */
function pause(milliseconds: number, scope: Scope): Promise<void> | undefined {
  if (milliseconds === 0) return undefined
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      forget()
      resolve()
    }, milliseconds)
    const forget = scope.onAbort((reason) => {
      clearTimeout(timer)
      reject(reason)
    })
  })
}
