import type { ToldCall, ToldExchange, Usage } from '../../engine/index.ts'
import { operationOf, providerOf } from './call-span.ts'
import type { ProviderFacts } from './call-span.ts'
import { buckets, mcpMethods } from './gateway-instruments.ts'
import { errorOfCall, errorOfExchange } from './error-type.ts'
import { recordOf } from './gateway-metrics.ts'
import type { Places } from './gateway-metrics.ts'
import type { Registry } from './registry.ts'
import { names } from './semantic-conventions.ts'

/** Names of metrics, of the same conventions as those of attributes. */
const inference = 'gen_ai.client.inference'
const modality = 'gen_ai.token.modality'
const modalities = ['text', 'audio', 'image', 'unknown']

const call = {
  [names.operation]: { free: names.operation },
  [names.provider]: { free: names.provider },
  [names.requestModel]: { records: 'model' },
} as const
const failing = { [names.errorType]: { free: names.errorType } } as const
const mcp = { [names.mcpMethod]: mcpMethods, ...failing } as const

/** Measures calls as the conventions of OpenTelemetry do. Only collectors get this: Prometheus has the gateway's own. */
export class ConventionMetrics {
  readonly #instruments: ReturnType<typeof instrumentsIn>
  #providers: ReadonlyMap<string, ProviderFacts> = new Map()
  #places: Places = new Map()
  /** What MCP servers answered to messages under way, by exchange. */
  readonly #failed = new Map<string, string>()

  constructor(registry: Registry) {
    this.#instruments = instrumentsIn(registry)
  }

  /** A configuration went live. */
  follow(providers: ReadonlyMap<string, ProviderFacts>, places: Places): void {
    this.#providers = providers
    this.#places = places
  }

  called(told: ToldCall): void {
    const { duration = 0, streamed, firstContent, metered } = told
    const error = errorOfCall(told, undefined)
    if (told.protocol === 'mcp') {
      if (error !== undefined) this.#failed.set(told.exchange, error)
      const { method } = told.asked?.() ?? {}
      const labels = {
        [names.mcpMethod]: typeof method === 'string' ? method : '',
        [names.errorType]: error,
      }
      return this.#instruments.mcpClient(labels).observe(duration / 1_000)
    }
    const labels = {
      [names.operation]: operationOf(told),
      [names.provider]: providerOf(told, this.#providers.get(told.provider) ?? {}),
      [names.requestModel]: recordOf(told, this.#places),
    }
    this.#instruments.duration({ ...labels, [names.errorType]: error }).observe(duration / 1_000)
    if (streamed === true && firstContent !== undefined)
      this.#instruments.firstChunk(labels).observe(firstContent / 1_000)
    if (metered?.usage) this.#count(metered.usage, labels)
  }

  ends(exchange: ToldExchange): void {
    const { mcp: asked, duration = 0 } = exchange
    const answered = this.#failed.get(exchange.id)
    this.#failed.delete(exchange.id)
    if (asked === undefined) return
    const labels = { [names.mcpMethod]: asked.method, [names.errorType]: answered ?? errorOfExchange(exchange) }
    this.#instruments.mcpServer(labels).observe(duration / 1_000)
  }

  /** The conventions' counts contain one another, as on spans. */
  #count(usage: Usage, labels: Readonly<Record<string, string | undefined>>): void {
    const { input, output, cacheRead, cacheWrite, reasoning } = usage
    const count = (of: keyof ReturnType<typeof tokensIn>, amount: number, kind = 'unknown') => {
      if (amount > 0) this.#instruments.tokens[of]({ ...labels, [modality]: kind }).add(amount)
    }
    const parted = (of: 'input' | 'output', all: number, audio = 0, image = 0) => {
      count(of, audio, 'audio')
      count(of, image, 'image')
      count(of, all - audio - image, audio + image > 0 ? 'text' : 'unknown')
    }
    parted('input', input + cacheRead + cacheWrite, usage.inputAudio, usage.inputImage)
    parted('output', output + reasoning, usage.outputAudio, usage.outputImage)
    count('cacheRead', cacheRead)
    count('cacheWrite', cacheWrite)
    count('reasoning', reasoning)
  }
}

function instrumentsIn(registry: Registry) {
  const seconds = (name: string, help: string, labels: Parameters<typeof registry.histogram>[0]['labels'] = {}) =>
    registry.histogram({ name, help, labels }, buckets.request)
  return {
    duration: seconds(`${inference}.duration`, 'Time of a call of a provider.', { ...call, ...failing }),
    firstChunk: seconds(`${inference}.time_to_first_chunk`, 'Time until the first content of a stream.', call),
    tokens: tokensIn(registry),
    mcpServer: seconds('mcp.server.operation.duration', 'Time of a message of a client to an MCP server.', mcp),
    mcpClient: seconds('mcp.client.operation.duration', 'Time until an MCP server has answered a message.', mcp),
  }
}

function tokensIn(registry: Registry) {
  const counter = (word: string, help: string) =>
    registry.counter({
      name: `${inference}.usage.${word}`,
      help,
      labels: { ...call, [modality]: modalities },
    })
  return {
    input: counter('input_tokens', 'Tokens of input, also those of a cache.'),
    output: counter('output_tokens', 'Tokens of output, also those of reasoning.'),
    cacheRead: counter('cache_read.input_tokens', 'Tokens of input that a cache had.'),
    cacheWrite: counter('cache_write.input_tokens', 'Tokens of input that a cache took.'),
    reasoning: counter('reasoning.output_tokens', 'Tokens of reasoning.'),
  }
}
