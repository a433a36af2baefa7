import type { Context } from 'mocha'
import { decides } from '../../routing/judge/rig.ts'
import { chatFrames, messagesFrames } from '../../service/streams.ts'
import type { ScriptedFrame } from '../../service/streams.ts'
import { askAt, password } from '../../support/admin.ts'
import { startSdkServer } from '../../support/mcp-sdk.ts'
import type { SdkServer } from '../../support/mcp-sdk.ts'
import { scriptedUpstream } from '../../support/upstream.ts'
import type { RecordedRequest, Script } from '../../support/upstream.ts'
import { startConsole } from '../support/browser.ts'
import type { SignedInRig } from '../support/browser.ts'

/** A console of a gateway that has served clients for a day. */
export interface Day extends SignedInRig {
  /** Id of a request that a second provider answered. */
  readonly fallenBack: string
}

const hours = 24
const hour = 3_600_000
const clients = 8
const requests = 720

const keys = [
  { name: 'agents-prod', key: 'sk-agents-0123456789abcdef', tags: { team: 'agents' }, budget: { usd: 40 } },
  { name: 'support-bot', key: 'sk-support-0123456789abcdef', tags: { team: 'support' }, budget: { usd: 0.66 } },
  { name: 'ci', key: 'sk-ci-0123456789abcdef01', rate_limit: { requests: 600, concurrency: 20 } },
]

const price = (input: number) => ({ input, output: 4 * input, cache_read: input / 10 })
const models = [
  { name: 'reed-mini', provider: 'reed', quality_tier: 'economy', pricing: price(0.15), fallbacks: ['sable-small'] },
  { name: 'reed-large', provider: 'reed', quality_tier: 'premium', pricing: price(3), fallbacks: ['sable-mid'] },
  { name: 'sable-small', provider: 'sable', quality_tier: 'economy', pricing: price(0.25) },
  { name: 'sable-mid', provider: 'sable', quality_tier: 'balanced', pricing: price(1) },
]

const prompts = [
  'Hello',
  'What is the capital of France?',
  'Sort a list of numbers in Python.',
  'Translate "good morning" into Spanish.',
  'Which of these two contracts binds us longer, and by which clause?',
  'Prove that there are infinitely many primes, and that the sum of their reciprocals diverges.',
  'Design a lock-free queue for many producers, prove it linearizable, and give the C++ code.',
]

const answer =
  'The second one. Its clause 7.2 renews it by two years unless one of you writes before the end of March; the first one ends by itself.'

/** The same numbers in every run. */
function numbers(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

/** Answers every call like a provider of the name in front of its path; `reed` has a bad hour. */
function provider(now: () => number, random: () => number) {
  return ({ path, body }: RecordedRequest): Script => {
    if (path.startsWith('/jury')) return decides('MEDIUM', [0.07, 0.68, 0.25])
    const { model = '' } = JSON.parse(body.toString()) as { readonly model?: string }
    const delay = 8 + 30 * random() ** 3 * (model.includes('large') ? 4 : 1)
    const ago = now() / hour
    const isBad = path.startsWith('/reed') && (ago < 0.5 || (ago > 6 && ago < 7 && random() < 0.5))
    if (isBad || random() < 0.01)
      return { status: 503, body: { error: { message: 'The engine is overloaded.', type: 'server_error' } }, delay: 4 }
    const input = Math.round(200 + 9000 * random() ** 2)
    const usage = { input, cached: Math.round(input * random() * 0.8), output: Math.round(20 + 700 * random() ** 2) }
    const texts = answer.split(/(?<= )/)
    const told = path.startsWith('/sable') ? messagesFrames(...texts) : chatFrames(...texts)
    return { frames: told.map((frame) => billed(frame, usage)), delay, every: 0.3 }
  }
}

/** A frame that names other counts of tokens. */
function billed(frame: ScriptedFrame, { input, cached, output }: Readonly<Record<string, number>>): ScriptedFrame {
  if (typeof frame === 'string' || input === undefined || output === undefined || cached === undefined) return frame
  const text = JSON.stringify(frame)
    .replace('"input_tokens":9', `"cache_read_input_tokens":${cached},"input_tokens":${input - cached}`)
    .replace('"output_tokens":4', `"output_tokens":${output}`)
    .replace('"prompt_tokens":9', `"prompt_tokens_details":{"cached_tokens":${cached}},"prompt_tokens":${input}`)
    .replace(
      '"completion_tokens":4,"total_tokens":13',
      `"completion_tokens":${output},"total_tokens":${input + output}`,
    )
  return JSON.parse(text) as ScriptedFrame
}

/** When a request is sent, in hours before now: more by day than by night. */
function hoursAgo(random: () => number): number {
  for (;;) {
    const ago = hours * random()
    const isDay = (1 + Math.cos(((ago - 4) / hours) * 2 * Math.PI)) / 2
    if (random() < 0.25 + 0.75 * isDay) return ago
  }
}

/** Lets real clients ask for a day. The clock of the process alone is moved: the whole takes less than a minute. */
export async function startDay(context: Context): Promise<Day> {
  const clock = Date.now
  let ago = hours * hour
  Date.now = () => clock() - ago
  const random = numbers(7)
  const upstream = await scriptedUpstream()
  upstream.answer(provider(() => ago, random))
  const tools = await startSdkServer()
  const rig = await startConsole(context, settings(upstream.url, tools))
  const { gateway } = rig
  const { status, body } = await gateway.asAdmin('PATCH /api/config/server/smart_routing', {
    enabled: true,
    diagnostics: true,
    exploration: { enabled: false },
    judge: { enabled: true, shadow: true, model: 'jury', sample_rate: 0.2 },
  })
  if (status !== 200) throw new Error(JSON.stringify(body))

  const waiting = Array.from({ length: requests }, () => hour * hoursAgo(random)).toSorted((a, b) => b - a)
  const one = async () => {
    for (let moment = waiting.shift(); moment !== undefined; moment = waiting.shift()) {
      ago = Math.min(ago, moment)
      // oxlint-disable-next-line no-await-in-loop
      await ask(gateway.url, random)
    }
  }
  await Promise.all(Array.from({ length: clients }, one))
  Date.now = clock
  ago = 0
  await gateway.rows(requests)
  // The session of yesterday is over.
  const { body: session } = await gateway.asNobody('POST /api/auth/login', { username: 'admin', password })
  const { token } = session as { readonly token: string }
  const { body: listed } = await askAt(gateway.url, token)('GET /api/logs?provider=sable&result=completed&limit=200')
  const rows = listed['data'] as readonly { readonly id: string; readonly attempts: number }[]
  const fallen = rows.find(({ attempts }) => attempts > 1)
  if (!fallen) throw new Error(`no request fell back: ${JSON.stringify(listed)}`)
  return {
    ...rig,
    fallenBack: fallen.id,
    async close() {
      Date.now = clock
      await rig.close()
      await Promise.all([upstream.close(), tools.close()])
    },
  }
}

function settings(url: string, tools: SdkServer) {
  return {
    providers: [
      { name: 'reed', type: 'compatible', base_url: `${url}/reed/v1` },
      { name: 'sable', type: 'messages', base_url: `${url}/sable/v1`, api_key: 'sk-sable-3f9a' },
      { name: 'jury', type: 'native', base_url: `${url}/jury/v1`, api_key: 'sk-jury-17c2' },
    ],
    models: [
      ...models.map((model) => ({ auto_eligible: true, supports_tools: true, ...model })),
      { name: 'jury', provider: 'jury', supports_mapeval: true, pricing: { input: 1, output: 1 } },
    ],
    api_keys: keys,
    records: { mcp_servers: [{ name: 'library', transport: 'http', url: tools.url }] },
    server_config: { logging: { capture: 'all' } },
  }
}

async function ask(url: string, random: () => number) {
  const pick = <T>(list: readonly T[]) => list[Math.floor(random() * list.length)] as T
  const model = pick(['auto', 'auto', 'fast', 'best', 'reed-mini', 'reed-large', 'sable-mid', 'sable-mid'])
  const { key } = pick([...keys, ...keys.slice(0, 1)])
  const turns = [{ role: 'user', content: pick(prompts) }]
  const isMessages = random() < 0.3
  const response = await fetch(`${url}/v1/${isMessages ? 'messages' : 'chat/completions'}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model, messages: turns, max_tokens: 1000, stream: true }),
  })
  await response.text()
}
