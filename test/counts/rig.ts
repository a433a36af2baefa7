import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { Agent, createServer, request } from 'node:http'
import type { Server, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../support/free-port.ts'
import { until } from '../support/until.ts'

const root = join(import.meta.dirname, '..', '..')
const key = 'sk-sluice-counts-000000000000000000000000000'

/** What one request cost on the main thread of the gateway, on average. */
export interface Counts {
  readonly bytes: number
  readonly promises: number
}

/** A gateway in a process of its own, with an upstream that answers at once. */
export interface Counted {
  /**
   * Sends requests one after the other, in batches, until a batch costs no more than `most` on average, and gives the
   * lowest figures; gives up after `batches`. The first batches cost more: their code is not compiled yet, and how soon
   * it is depends on the machine.
   */
  count(path: string, body: object, most: Counts, load?: Load): Promise<Counts>
  close(): Promise<void>
}

export interface Load {
  readonly batches: number
  readonly requests: number
  /** How many chunks of a stream the upstream writes at once. */
  readonly together?: number
}

/**
 * @param settings what the configuration says beside one provider, `far`, and its models
 * @param isTraced whether all requests have spans, which are sent in batches of 50
 */
export async function openCounted(
  settings: { readonly api_key?: object; readonly server_config?: object } = {},
  isTraced = false,
): Promise<Counted> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-counts-'))
  const stream = new Stream()
  const upstream = await openUpstream(stream)
  const port = await freePort()
  const routed = { auto_eligible: true, context_length: 100_000 }
  const models = [
    { name: 'plain' },
    { name: 'small', ...routed, quality_tier: 'economy' },
    { name: 'middle', ...routed, quality_tier: 'balanced' },
    { name: 'large', ...routed, quality_tier: 'premium' },
  ].map((model, index) => ({ ...model, provider: 'far', pricing: { input: 1 + index, output: 2 + index } }))
  await writeFile(
    join(folder, 'sluice.yaml'),
    JSON.stringify({
      listen: { host: '127.0.0.1', port },
      database: { url: `sqlite:${join(folder, 'sluice.db')}` },
      plugins: [join(root, 'plugins')],
      pipelines: join(root, 'pipelines'),
      providers: [{ name: 'far', type: 'compatible', base_url: `${upstream.url}/v1`, api_key: 'sk-upstream' }],
      models,
      api_keys: [{ name: 'counts', key, ...settings.api_key }],
      server_config: { logging: { level: 'error' }, smart_routing: { enabled: true }, ...settings.server_config },
    }),
  )
  const traces = { OTEL_EXPORTER_OTLP_ENDPOINT: upstream.url, OTEL_BSP_MAX_EXPORT_BATCH_SIZE: '50' }
  const place = { SLUICE_CONFIG: join(folder, 'sluice.yaml'), PORT: String(port), HOST: '127.0.0.1' }
  const gateway = fork(join(root, 'engine', 'bin', 'sluice.cjs'), ['serve', '--no-watch'], {
    execArgv: ['--import', join(import.meta.dirname, 'counter.ts')],
    // Variables of the shell win over the file.
    env: { PATH: process.env['PATH'], ...place, ...(isTraced ? traces : {}) },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  const url = `http://127.0.0.1:${port}`
  await until(async () => {
    if (gateway.exitCode !== null || gateway.signalCode !== null) throw new Error('the gateway does not start')
    return (await fetch(`${url}/api/health/ready`).catch(() => undefined))?.ok === true
  })
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const tell = async (word: 'start' | 'stop') => {
    const told = once(gateway, 'message') as Promise<[Counts]>
    gateway.send(word)
    return (await told)[0]
  }
  const send = async (path: string, body: object, times: number) => {
    const text = JSON.stringify(body)
    for (let sent = 0; sent < times; sent++) await post(`${url}${path}`, text, agent, stream)
  }
  return {
    async count(path, body, most, { batches, requests, together = 1 } = { batches: 600, requests: 100 }) {
      stream.together = together
      let lowest: Counts = { bytes: Infinity, promises: Infinity }
      for (let done = 0; done < batches; done++) {
        await tell('start')
        await send(path, body, requests)
        const { bytes, promises } = await tell('stop')
        lowest = {
          bytes: Math.min(lowest.bytes, bytes / requests),
          promises: Math.min(lowest.promises, promises / requests),
        }
        if (lowest.bytes <= most.bytes && lowest.promises <= most.promises) break
      }
      return lowest
    },
    async close() {
      agent.destroy()
      const ended = once(gateway, 'exit')
      gateway.kill('SIGKILL')
      await ended
      await upstream.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

function post(url: string, text: string, agent: Agent, stream: Stream): Promise<void> {
  return new Promise((resolve, reject) => {
    const headers = {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(text),
    }
    const sent = request(url, { method: 'POST', agent, headers }, (answer) => {
      answer.on('data', (part: Buffer) => stream.arrived(part))
      answer.on('error', reject)
      answer.on('end', () => {
        if (answer.statusCode === 200) resolve()
        else reject(new Error(`status ${answer.statusCode}`))
      })
    })
    sent.on('error', reject)
    sent.end(text)
  })
}

const usage = { prompt_tokens: 400, completion_tokens: 20, total_tokens: 420 }
const head = { id: 'chatcmpl-1', created: 1, model: 'plain' }

/** Answers chat completions: whole, or as a stream of as many chunks as `max_tokens` says. Takes traces, too. */
async function openUpstream(stream: Stream): Promise<{ readonly url: string; close(): Promise<void> }> {
  const server: Server = createServer((asked, answer) => {
    const parts: Buffer[] = []
    asked.on('data', (part: Buffer) => parts.push(part))
    asked.on('end', () => {
      if (asked.url === '/v1/traces') return void answer.end()
      const body = JSON.parse(Buffer.concat(parts).toString()) as { stream?: boolean; max_tokens: number }
      if (body.stream) stream.answer(answer, body.max_tokens)
      else whole(answer)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

function whole(answer: ServerResponse): void {
  const message = {
    role: 'assistant',
    content: 'An answer of some twenty tokens, as a model would write it to a short question.',
  }
  const choices = [{ index: 0, message, finish_reason: 'stop' }]
  const text = JSON.stringify({ ...head, object: 'chat.completion', choices, usage })
  answer.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) })
  answer.end(text)
}

const line = (more: object) => `data: ${JSON.stringify({ ...head, object: 'chat.completion.chunk', ...more })}\n\n`
const word = ' word'
const chunk = line({ choices: [{ index: 0, delta: { content: word }, finish_reason: null }] })
const end = [
  line({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }),
  line({ choices: [], usage }),
  'data: [DONE]\n\n',
].join('')

/**
 * An answer of which the next chunks leave when the client has those before. So the gateway reads each write apart,
 * however fast the machine is: what a read costs is most of what a chunk costs.
 */
class Stream {
  together = 1
  #left = 0
  #underway = 0
  #answer: ServerResponse | undefined

  answer(answer: ServerResponse, chunks: number): void {
    this.#answer = answer
    this.#left = chunks
    answer.writeHead(200, { 'content-type': 'text/event-stream' })
    this.#write()
  }

  arrived(part: Buffer): void {
    if (this.#underway === 0) return
    this.#underway -= part.toString('latin1').split(word).length - 1
    if (this.#underway === 0) this.#write()
  }

  #write(): void {
    this.#underway = Math.min(this.together, this.#left)
    this.#left -= this.#underway
    if (this.#underway > 0) this.#answer?.write(chunk.repeat(this.#underway))
    else this.#answer?.end(end)
  }
}
