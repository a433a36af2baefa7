import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { JsonObject } from '../../../engine/index.ts'
import { parsedObject } from '../../../engine/kit.ts'
import type { RequestsTable } from '../../../plugins/request-log/table.ts'
import { startAdmin } from '../../support/admin.ts'
import type { AdminGateway } from '../../support/admin.ts'
import type { GatewaySettings } from '../../support/gateway.ts'
import { scriptedUpstream } from '../../support/upstream.ts'
import type { Script, ScriptedUpstream } from '../../support/upstream.ts'
import { chatAnswer } from '../../service/streams.ts'

const here = import.meta.dirname

/** What the row of a judged request tells. */
export interface Told {
  readonly tier: string | null
  readonly complexity: number | null
  readonly notes: readonly string[]
  readonly cost: number | null
  readonly block: JsonObject | null
}

/** A gateway whose judge is a scripted upstream. Everything counts from the last `begin`. */
export interface Judged {
  readonly gateway: AdminGateway
  readonly judge: ScriptedUpstream
  readonly main: ScriptedUpstream
  /** Changes the settings, forgets what was before, and sets the usual answers. */
  begin(changed?: JudgeChange): Promise<void>
  /** How often each was asked. */
  calls(): { readonly judge: number; readonly main: number }
  ask(signals?: JsonObject, body?: JsonObject, path?: string): Promise<Response>
  /** What the judge was asked last. */
  question(): JsonObject
  /** The row of the only request, and that of the judge, if there is one. */
  rows(count?: number): Promise<{ readonly own: RequestsTable; readonly judged: RequestsTable | undefined }>
  told(count?: number): Promise<Told>
  close(): Promise<void>
}

/** An answer of the protocol `decisions`. */
export function decides(
  choice: string,
  masses?: readonly [number, number, number, number?],
  confidence?: number,
): Script {
  const values = ['SIMPLE', 'MEDIUM', 'COMPLEX', 'UNCLEAR']
  const probabilities = masses && values.map((value, index) => ({ value, probability: masses[index] ?? 0 }))
  const answer = { type: 'choice', name: 'tier', choice, ...(probabilities ? { probabilities } : {}) }
  return {
    body: { model: 'jury-2026', answers: [confidence === undefined ? answer : { ...answer, confidence }], usage },
  }
}

/** The same in the alternate envelope. */
export function evaluates(choice: string, probabilities?: JsonObject, confidence?: number): Script {
  const answer = { type: 'choice', choice, ...(probabilities ? { probabilities } : {}) }
  return { body: { answers: { tier: confidence === undefined ? answer : { ...answer, confidence } }, usage } }
}

const usage = { input_tokens: 188, output_tokens: 4, total_tokens: 192 }

export interface JudgedSettings extends Pick<GatewaySettings, 'api_keys' | 'key_value'> {
  /** Further models. */
  readonly models?: readonly object[]
  /** Sections beside that of smart routing. */
  readonly sections?: object
  /** How the judge is reached. */
  readonly provider?: object
  readonly pricing?: object | null
}

export async function startJudged(settings: JudgedSettings = {}): Promise<Judged> {
  const [judge, main] = await Promise.all([scriptedUpstream(), scriptedUpstream()])
  const folder = await mkdtemp(join(tmpdir(), 'sluice-judge-'))
  await cp(join(here, 'pipelines'), join(folder, 'pipelines'), { recursive: true })
  const { pricing = { input: 1, output: 100 }, provider = { type: 'native', api_key: 'sk-judge' } } = settings
  const gateway = await startAdmin({
    folder,
    plugins: [join(here, 'plugin.ts')],
    ...(settings.api_keys ? { api_keys: settings.api_keys } : {}),
    ...(settings.key_value ? { key_value: settings.key_value } : {}),
    providers: [
      { name: 'judges', base_url: judge.url, ...provider },
      { name: 'serves', type: 'compatible', base_url: main.url },
    ],
    models: [
      {
        name: 'jury',
        provider: 'judges',
        upstream_model: 'jury-2026',
        supports_mapeval: true,
        fallbacks: ['m'],
        ...(pricing ? { pricing } : {}),
      },
      {
        name: 'm',
        provider: 'serves',
        upstream_model: 'big-2026',
        auto_eligible: true,
        pricing: { input: 100, output: 100 },
        fallbacks: ['spare'],
      },
      { name: 'spare', provider: 'serves', pricing: { input: 100, output: 100 } },
      ...(settings.models ?? []),
    ],
    ...(settings.sections ? { server_config: settings.sections } : {}),
  })
  const already = { judge: 0, main: 0, rows: 0 }
  let running: string | undefined
  /** Changes the settings, which are then warm. */
  const configure = async (changed: JudgeChange) => {
    const { routing, ...judging } = changed
    const section = { enabled: true, ...routing, judge: { ...usual, ...judging } }
    if (running === JSON.stringify(section)) return
    running = JSON.stringify(section)
    judge.answer(decides('MEDIUM', [0.1, 0.8, 0.1]))
    const rows = (await gateway.rows()).length
    const { status } = await gateway.asAdmin('DELETE /api/config/server/smart_routing')
    const changing = await gateway.asAdmin('PATCH /api/config/server/smart_routing', section)
    if (status >= 300 || changing.status >= 300) throw new Error(JSON.stringify(changing.body))
    if (section.enabled && section.judge.enabled) await gateway.rows(rows + 1)
  }
  const judged: Judged = {
    gateway,
    judge,
    main,
    async begin(changed = {}) {
      await configure(changed)
      judge.answer(decides('MEDIUM', [0.1, 0.8, 0.1]))
      main.answer({ body: chatAnswer })
      already.judge = judge.requests.length
      already.main = main.requests.length
      already.rows = (await gateway.rows()).length
    },
    calls: () => ({ judge: judge.requests.length - already.judge, main: main.requests.length - already.main }),
    ask: (signals = {}, body = {}, path = '/judged') =>
      gateway.post(
        path,
        { model: 'auto', messages: [{ role: 'user', content: 'Sort a list.' }], ...body },
        { 'x-signals': JSON.stringify(signals) },
      ),
    question: () => parsedObject(String(judge.requests.at(-1)?.body)) ?? {},
    async rows(count = 2) {
      const all = (await gateway.rows(already.rows + count)).slice(already.rows)
      const own = all.find(({ type }) => type === 'chat')
      if (!own) throw new Error('the request has no row')
      return { own, judged: all.find(({ type }) => type === 'judge') }
    },
    async told(count) {
      return noted((await judged.rows(count)).own)['verdict'] as unknown as Told
    },
    async close() {
      await gateway.close()
      await Promise.all([judge.close(), main.close(), rm(folder, { recursive: true, force: true })])
    },
  }
  return judged
}

/** Fields of the judge, and of smart routing around it, that differ from the usual ones of tests. */
export interface JudgeChange {
  readonly routing?: { readonly enabled?: boolean; readonly exploration?: object }
  readonly [name: string]: unknown
}

/** A judge that is asked whenever the signals are unsure, and obeyed. */
const usual = {
  enabled: true,
  shadow: false,
  model: 'jury',
  gate: { max_confidence: 0.5 },
  sample_rate: 0,
  deadline_s: 60,
  circuit: { failures: 1000 },
}

/** The metadata of a row. */
export function noted({ metadata }: Pick<RequestsTable, 'metadata'>): JsonObject {
  return parsedObject(metadata) ?? {}
}
