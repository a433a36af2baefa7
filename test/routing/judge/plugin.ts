import { definePlugin, defineStage, noConfig } from 'sluice'
import type { JsonObject, Slots } from 'sluice'
import { isObject } from 'sluice/kit'

type Signals = Pick<Slots['ensemble'], 'complexity' | 'tier' | 'confidence' | 'facts'>

const usual: Signals = {
  complexity: 0.5,
  tier: 'MEDIUM',
  confidence: 0.4,
  facts: { first: true, images: 0, tools: 0, schema_depth: 0, schema_fields: 0, background: false },
}

/** What a header says of the signals, beside the usual ones; the texts of the user are those of the body. */
const signals = defineStage({
  name: 'acme-signals',
  summary: 'Say what the signals would say.',
  config: noConfig,
  needs: ['request'],
  provides: ['ensemble', 'shortlist'],
  build:
    (_config, { catalog }) =>
    ({ request }) => {
      const given = JSON.parse(String(request.headers['x-signals'] ?? '{}')) as Partial<Signals>
      const said = { ...usual, ...given, facts: { ...usual.facts, ...given.facts } }
      const texts = textsOf(request.body)
      const ensemble = {
        ...said,
        confidenceRaw: said.confidence,
        map: 'none',
        weightsVersion: 'none',
        votes: {},
        notes: [],
        features: null,
        ask: texts.at(-1) ?? '',
        earlier: (count: number) => texts.slice(0, -1).slice(-count || texts.length),
      } as unknown as Slots['ensemble']
      const entries = catalog.models
        .filter((model) => model.auto_eligible)
        .map((model) => ({ model, candidates: [], isBroken: false, cost: 0 }))
      const shortlist = {
        entries,
        gates: [],
        notes: [],
        conversation: undefined,
        incumbent: undefined,
        input: 10,
        maxOutput: 10,
      }
      return { ensemble, shortlist }
    },
})

function textsOf({ messages = [] }: JsonObject): readonly string[] {
  const all = Array.isArray(messages) ? messages.filter(isObject) : []
  return all.filter(({ role }) => role === 'user').map(({ content }) => content as string)
}

/** In a preview nobody is asked. */
const preview = defineStage({
  name: 'acme-preview',
  summary: 'Only look how the request would be routed.',
  config: noConfig,
  needs: [],
  provides: ['preview'],
  build: () => () => ({ preview: {} }),
})

const would = defineStage({
  name: 'acme-would',
  summary: 'Answer whether the judge would be asked.',
  config: noConfig,
  needs: ['verdict'],
  provides: ['reply'],
  build:
    () =>
    ({ verdict }) => ({
      reply: {
        status: 200,
        headers: {},
        body: { kind: 'json', value: { ...verdict.wouldAsk, block: verdict.block() } },
      },
    }),
})

/** Waits for a call that is not over, as the stage that records how a request was routed does. */
const record = defineStage({
  name: 'acme-record',
  summary: 'Note what the judge said.',
  config: noConfig,
  needs: ['outcome'],
  reads: ['verdict'],
  provides: [],
  build:
    () =>
    async ({ verdict }, scope) => {
      await verdict?.done
      const { tier = null, complexity = null, notes = [], cost = null } = verdict ?? {}
      scope.note('verdict', { tier, complexity, notes, cost, block: verdict?.block() ?? null })
      return {}
    },
})

export default definePlugin({
  name: 'acme-judged',
  summary: 'Has the judge asked without the rest of smart routing.',
  stages: [signals, preview, would, record],
})
