import { expect } from 'chai'
import { stringify } from 'yaml'
import { defineStage } from '../../../engine/index.ts'
import type { AnyStage, SlotName } from '../../../engine/index.ts'
import { printDiagnostic } from '../../../engine/config/diagnostics.ts'
import { checkPipelines } from '../../../engine/proof/load.ts'
import { findings, registryOf, stub } from '../pipeline/stubs.ts'

type Given = Pick<AnyStage, 'owes' | 'pays' | 'gives' | 'ends'>
const stage = (name: string, needs: string[], provides: string[], more: Given = {}): AnyStage => ({
  ...stub(name, needs as SlotName[], provides as SlotName[]),
  ...more,
})

const stages = [
  stage('auth', ['ingress'], ['principal']),
  stage('choose', [], ['candidates']),
  stage('sort', ['candidates'], ['candidates']),
  stage('limit', [], [], { pays: ['limit'] }),
  stage('permit', ['candidates'], ['candidates'], { pays: ['allow'] }),
  stage('watch', ['model'], [], { pays: ['watch'] }),
  stage('tell', [], [], { pays: ['tell'] }),
  stage('price', ['outcome'], [], { pays: ['price'] }),
  stage('log', ['outcome'], [], { pays: ['log'] }),
  stage('note', [], [], { pays: ['note'] }),
  stage('begin-job', [], ['job'], { pays: ['log', 'price'] }),
  stage('noop', [], []),
  stage('deny', [], [], { ends: true }),
  stage('guess', [], [], { gives: ['decision'] }),
  stage('call', ['model'], ['reply'], {
    owes: [
      { duty: 'limit', at: 'before' },
      { duty: 'allow', at: 'before', of: 'candidates' },
      { duty: 'watch', at: 'before', of: 'model' },
      { duty: 'tell', at: 'after', with: 'watch' },
      { duty: 'price', at: 'finally' },
      { duty: 'log', at: 'finally' },
    ],
  }),
  stage('reply', [], ['reply'], { owes: ['note'] }),
  stage('decide', [], [], { owes: [{ duty: 'note', at: 'finally', ahead: ['log'] }] }),
  defineStage({
    name: 'run',
    summary: 'Runs a pipeline.',
    config: {
      type: 'object',
      additionalProperties: false,
      required: ['pipeline'],
      properties: {
        pipeline: { type: 'string', 'x-names': 'pipeline', 'x-inputs': ['candidates'], description: 'Which.' },
      },
    } as const,
    needs: ['candidates'],
    provides: ['reply'],
    build: () => () => ({ reply: undefined as never }),
  }),
]
const registry = registryOf(stages)

type Step = string | { readonly [word: string]: unknown }
interface Plan {
  readonly stages: readonly Step[]
  readonly finally?: readonly Step[]
  readonly without?: readonly string[]
}

const text = (plan: Plan, name = 'p', routes = ['POST /p']) =>
  stringify({ name, summary: 's.', routes, inputs: routes.length > 0 ? [] : ['candidates'], ...plan })
const found = (plan: Plan, others: Record<string, string> = {}) =>
  findings({ 'p.yaml': text(plan), ...others }, registry)
/** The duties that the findings name. */
const unpaid = (lines: readonly string[]) => lines.map((line) => /owes "([\w-]+)"/.exec(line)?.[1] ?? line)

const tries: Step = { attempt: { do: ['watch', 'call', 'tell'] } }
const whole: Plan = { stages: ['auth', 'choose', 'limit', 'permit', tries], finally: ['price', 'log'] }

describe('duties of a pipeline', () => {
  it('are paid by a whole pipeline, and each missing one is told with its line and the stage that pays it', () => {
    expect(found(whole)).to.deep.equal([])
    expect(found({ stages: ['auth', 'choose', { attempt: { do: ['call'] } }] })).to.deep.equal([
      'p.yaml:9:5: "call" owes "limit", which nothing before it pays; add "- limit" before this step [duty]',
      'p.yaml:9:5: "call" owes "allow", which nothing has paid since "choose" gave "candidates"; add "- permit" before this step [duty]',
      'p.yaml:9:5: "call" owes "price", which nothing in "finally" pays; add "- price" to a "finally" behind the stages [duty]',
      'p.yaml:9:5: "call" owes "log", which nothing in "finally" pays; add "- log" to a "finally" behind the stages [duty]',
      'p.yaml:11:11: "call" owes "watch", which nothing has paid since "attempt" gave "model"; add "- watch" before this step [duty]',
      'p.yaml:11:11: "call" owes "tell", which nothing after it pays; add "- tell" after this step [duty]',
    ])
  })

  it('are paid on every path to the stage', () => {
    const arm = (steps: readonly Step[]): Step => ({ switch: [{ when: { 'ingress.method': 'POST' }, do: steps }] })
    const lines = found({ ...whole, stages: ['auth', 'choose', arm(['limit']), 'permit', tries] })
    expect(lines).to.deep.equal([
      'p.yaml:15:5: "call" owes "limit", which only some paths to it pay; add "- limit" before this step [duty]',
    ])
    expect(found({ ...whole, stages: ['auth', 'choose', arm(['deny']), 'limit', 'permit', tries] })).to.deep.equal([])
    const otherwise: Step = {
      switch: [{ when: { 'ingress.method': 'POST' }, do: ['limit'] }, { do: ['limit', 'noop'] }],
    }
    expect(found({ ...whole, stages: ['auth', 'choose', otherwise, 'permit', tries] })).to.deep.equal([])
  })

  it('are owed again when candidates or the model are given anew', () => {
    const stagesOf = (...steps: Step[]): Plan => ({ ...whole, stages: ['auth', 'choose', 'limit', 'permit', ...steps] })
    expect(found(stagesOf('sort', tries))).to.deep.equal([])
    expect(unpaid(found(stagesOf('choose', tries)))).to.deep.equal(['allow'])
    expect(unpaid(found(stagesOf(tries, { attempt: { do: ['call', 'tell'] } })))).to.deep.equal(['watch'])
    const last = (steps: readonly Step[]): Step => ({ attempt: { do: ['watch', 'call', 'tell'], otherwise: steps } })
    expect(found(stagesOf(last(['choose', 'permit', tries])))).to.deep.equal([])
    expect(found(stagesOf(last(['choose', tries])))).to.deep.equal([
      'p.yaml:18:11: "call" owes "allow", which nothing has paid since "choose" gave "candidates"; add "- permit" before this step [duty]',
    ])
  })

  it('stay owed when a try failed, and what only a served path does is no payment', () => {
    const owing: Step = {
      attempt: { do: ['watch', 'call', 'tell'], otherwise: ['noop', { run: { pipeline: 'inner' } }] },
    }
    const inner = text({ stages: ['noop'] }, 'inner', [])
    const plan: Plan = { ...whole, stages: ['auth', 'choose', 'limit', 'permit', owing] }
    const onlyServed: Step[] = [{ switch: [{ when: { model: true }, do: ['price', 'log'] }] }]
    expect(unpaid(found({ ...plan, finally: onlyServed }, { 'inner.yaml': inner }))).to.deep.equal(['price', 'log'])
  })

  it('leave out the paths that a condition on a slot excludes', () => {
    const job: Step[] = [{ switch: [{ when: { job: false }, do: ['price', 'log'] }] }]
    const starts = (giver: string): Plan => ({
      stages: [
        'auth',
        'choose',
        'limit',
        'permit',
        { switch: [{ when: { 'ingress.method': 'PUT' }, do: [giver, 'reply'] }, { do: [tries] }] },
      ],
      without: ['note'],
      finally: job,
    })
    expect(found(starts('begin-job'))).to.deep.equal([])
    expect(
      unpaid(found({ ...starts('begin-job'), stages: ['auth', 'choose', 'limit', 'permit', 'begin-job', tries] })),
    ).to.deep.equal(['price', 'log'])
    const perhaps = (condition: boolean): Plan => ({
      ...whole,
      stages: ['auth', 'guess', 'choose', 'limit', 'permit', tries],
      finally: [{ switch: [{ when: { decision: condition }, do: ['price'] }] }, 'log'],
    })
    expect(unpaid(found(perhaps(false)))).to.deep.equal(['price'])
    expect(unpaid(found(perhaps(true)))).to.deep.equal(['price'])
    const both: Step[] = [{ switch: [{ when: { decision: true }, do: ['price'] }, { do: ['price'] }] }, 'log']
    expect(found({ ...perhaps(true), finally: both })).to.deep.equal([])
  })

  it('are paid in their order, also those of several stages', () => {
    expect(found({ ...whole, finally: ['log', 'price'] })).to.deep.equal([
      'p.yaml:17:5: "price", which "call" owes, must stand before this step [duty-order]',
    ])
    const decided: Plan = { ...whole, stages: ['auth', 'choose', 'decide', 'limit', 'permit', tries] }
    expect(found({ ...decided, finally: ['price', 'note', 'log'] })).to.deep.equal([])
    expect(found({ ...decided, finally: ['price', 'log', 'note'] })).to.deep.equal([
      'p.yaml:19:5: "note", which "decide" owes, must stand before this step [duty-order]',
    ])
    expect(found({ ...decided, finally: ['price', 'log'] })).to.deep.equal([
      'p.yaml:19:5: "decide" owes "note", which nothing in "finally" pays; add "- note" before this step [duty]',
    ])
  })

  it('stay owed when a stage refuses in finally, whose other stages run', () => {
    const refusing: Step = {
      switch: [{ when: { 'ingress.method': 'POST' }, do: ['deny'] }, { do: ['price', 'log'] }],
    }
    expect(unpaid(found({ ...whole, finally: [refusing] }))).to.deep.equal(['price', 'log'])
    expect(unpaid(found({ ...whole, finally: ['price', refusing] }))).to.deep.equal(['log'])
  })

  it('of a text alone are paid before the stage or in finally', () => {
    const plan = (before: Step[], last: Step[]): Plan => ({ stages: ['auth', ...before, 'reply'], finally: last })
    expect(found(plan(['note'], []))).to.deep.equal([])
    expect(found(plan([], ['note']))).to.deep.equal([])
    expect(unpaid(found(plan([], [])))).to.deep.equal(['note'])
    expect(unpaid(found({ stages: ['auth', 'reply', 'note'] }))).to.deep.equal(['note'])
  })

  it('of an include are proven where it is used, and told in the file that lacks them', () => {
    const ask = (...steps: Step[]) => text({ stages: steps }, 'ask', [])
    const settle = stringify({ name: 'settle', summary: 's.', inputs: ['outcome'], stages: ['price', 'log'] })
    const plan: Plan = { stages: ['auth', 'choose', 'limit', 'permit', { use: 'ask' }], finally: [{ use: 'settle' }] }
    const others = { 'settle.yaml': settle }
    expect(found(plan, { ...others, 'ask.yaml': ask(tries) })).to.deep.equal([])
    expect(
      found({ ...plan, stages: ['auth', 'choose', 'permit', { use: 'ask' }] }, { ...others, 'ask.yaml': ask(tries) }),
    ).to.deep.equal([
      'p.yaml:10:10: "call" owes "limit", which nothing before it pays; add "- limit" before this step [duty]',
    ])
    const bare: Step = { attempt: { do: ['call', 'tell'] } }
    const twice = { 'q.yaml': text(plan, 'q', ['POST /q']), ...others, 'ask.yaml': ask(bare) }
    expect(found(plan, twice)).to.deep.equal([
      'ask.yaml:9:11: "call" owes "watch", which nothing has paid since "attempt" gave "model"; add "- watch" before this step [duty]',
    ])
  })

  it('are told in a file of the operator, if one lacks what the product uses there', () => {
    const own = stringify({ name: 'route', summary: 's.', inputs: [], stages: ['choose', 'noop'] })
    const plan: Plan = { ...whole, stages: ['auth', 'limit', { use: 'route' }, tries] }
    const texts = [
      { file: 'shipped/p.yaml', text: text(plan), shipped: true },
      { file: 'route.yaml', text: own },
    ]
    expect(checkPipelines(texts, registry, {}).diagnostics.map(printDiagnostic)).to.deep.equal([
      'route.yaml:6:5: "call" owes "allow", which nothing has paid since "choose" gave "candidates"; add "- permit" after this step [duty]',
    ])
  })

  it('of a pipeline that a stage runs are its own', () => {
    const outer: Plan = { ...whole, stages: ['auth', 'choose', 'limit', 'permit', { run: { pipeline: 'inner' } }] }
    const inner = (...steps: Step[]) => ({
      'inner.yaml': text({ stages: steps, finally: ['price', 'log'] }, 'inner', []),
    })
    expect(found(outer, inner('limit', 'permit', tries))).to.deep.equal([])
    expect(unpaid(found(outer, inner('permit', tries)))).to.deep.equal(['limit'])
  })

  it('are left out with "without", which is noted, holds for includes, and knows its names', () => {
    const bare: Plan = { stages: ['auth', 'choose', 'limit', { attempt: { do: ['call'] } }], finally: ['log'] }
    expect(unpaid(found(bare)).sort()).to.deep.equal(['allow', 'price', 'tell', 'watch'])
    const waived = { ...bare, without: ['allow', 'price', 'watch'] }
    expect(found(waived)).to.deep.equal([])
    const { notes } = checkPipelines([{ file: 'p.yaml', text: text(waived) }], registry, {})
    expect(notes.map(printDiagnostic)).to.deep.equal([
      'p.yaml:16:3: note: "p" does without "allow", "price", "watch" [without]',
    ])
    const shipped = [{ file: 'p.yaml', text: text(waived), shipped: true }]
    expect(checkPipelines(shipped, registry, {}).notes).to.deep.equal([])
    expect(found({ ...whole, without: ['limi'] })).to.deep.equal([
      'p.yaml:20:5: no stage owes "limi"; did you mean "limit"? [unknown-duty]',
    ])
    const ask = stringify({ name: 'ask', summary: 's.', inputs: ['candidates'], without: ['limit'], stages: [tries] })
    const using: Plan = { ...whole, stages: ['auth', 'choose', 'permit', { use: 'ask' }] }
    expect(found(using, { 'ask.yaml': ask })).to.deep.equal([])
  })

  it('that no stage pays are told as such', () => {
    const odd = registryOf([...stages.filter(({ name }) => name !== 'limit'), stage('limit', [], [])])
    expect(findings({ 'p.yaml': text(whole) }, odd)).to.deep.equal([
      `p.yaml:11:5: "call" owes "limit", which nothing before it pays; no stage pays it: the stage "limit" must say "pays: ['limit']" [duty]`,
    ])
  })

  it('miss exactly what is dropped, in pipelines of any shape', () => {
    const random = seeded(7)
    const pick = <T>(list: readonly T[]) => list[Math.floor(random() * list.length)] as T
    for (let round = 0; round < 400; round++) {
      const files: Record<string, string> = {}
      const dropped = pick(['limit', 'permit', 'watch', 'tell', 'price', 'log', undefined])
      const kept = (...steps: string[]): Step[] => steps.filter((step) => step !== dropped)
      const wrapped = (steps: Step[], inputs: string[], depth = 0): Step[] => {
        const noise = random() < 0.3 ? ['noop'] : []
        const shape = depth > 2 || steps.length === 0 ? 'plain' : pick(['plain', 'use', 'switch', 'deny'])
        if (shape === 'plain') return [...noise, ...steps]
        const inner = wrapped(steps, inputs, depth + 1)
        if (shape === 'deny') return [{ switch: [{ when: { 'ingress.method': 'PUT' }, do: ['deny'] }] }, ...inner]
        if (shape === 'switch')
          return [{ switch: [{ when: { 'ingress.method': 'PUT' }, do: inner }, { do: [...noise, ...inner] }] }]
        const name = `i${Object.keys(files).length}-${depth}`
        files[`${name}.yaml`] = stringify({ name, summary: 's.', inputs: [...inputs, 'ingress'], stages: inner })
        return [...noise, { use: name }]
      }
      const body: Step[] = [{ attempt: { do: wrapped(kept('watch', 'call', 'tell'), ['model', 'candidates'], 1) } }]
      const start = wrapped(kept('limit'), [])
      const routed = [...wrapped(['choose', ...kept('permit')], [])]
      const plan: Plan = {
        stages: [
          'auth',
          ...(random() < 0.5 ? [...start, ...routed] : [...routed, ...start]),
          ...wrapped(body, ['candidates']),
        ],
        finally: wrapped(kept('price', 'log'), ['outcome']),
      }
      const all = { 'p.yaml': text(plan), ...files }
      const missing = { permit: 'allow' }[dropped as string] ?? dropped
      const told = new Set(unpaid(findings(all, registry)))
      expect([...told], JSON.stringify(all)).to.deep.equal(missing === undefined ? [] : [missing])
    }
  })

  it('are paid by a stage only where its configuration says so, and the line to add says it', () => {
    const sides = { type: 'object', additionalProperties: false, required: ['side'], properties: { side: {} } } as const
    const guard: AnyStage = {
      ...stage('guard', [], [], {
        pays: [
          { duty: 'guard-input', given: { side: 'input' } },
          { duty: 'guard-output', given: { side: 'output' } },
        ],
      }),
      config: sides,
    }
    const asks = stage('ask', [], ['reply'], { owes: [{ duty: 'guard-input', at: 'before' }] })
    const with_ = registryOf([...stages, guard, asks])
    const linesOf = (side: string) =>
      findings({ 'p.yaml': text({ stages: ['auth', { guard: { side } }, 'ask'] }) }, with_)
    expect(linesOf('input')).to.deep.equal([])
    expect(linesOf('output')).to.deep.equal([
      'p.yaml:10:5: "ask" owes "guard-input", which nothing before it pays; add "- guard: { side: input }" before this step [duty]',
    ])
  })

  it('are only advised until something would be missed', () => {
    const unless = () => 'the guard "pii"'
    const asks = stage('ask', [], ['reply'], { owes: [{ duty: 'note', at: 'before', unless }] })
    const { advice, diagnostics } = checkPipelines(
      [{ file: 'p.yaml', text: text({ stages: ['auth', 'ask'] }) }],
      registryOf([...stages, asks]),
      {},
    )
    expect(diagnostics).to.deep.equal([])
    expect(advice.map(({ warning, pipeline }) => [pipeline, warning.warning, printDiagnostic(warning)])).to.deep.equal([
      [
        'p',
        true,
        'p.yaml:8:5: warning: "ask" owes "note", which nothing before it pays; add "- note" before this step [duty]',
      ],
    ])
    expect(advice[0]?.unless).to.equal(unless)
  })

  it('are proven in a time that grows with the number of steps', () => {
    const slots = Array.from({ length: 30 }, (_, index) => `x.s${index}`)
    const givers = slots.map((slot) => stage(`give-${slot}`, [], [], { gives: [slot as SlotName] }))
    const many = slots.flatMap((slot): Step[] => [
      `give-${slot}`,
      { switch: [{ when: { [slot]: true }, do: ['noop'] }, { do: ['limit'] }] },
    ])
    const plan: Plan = { ...whole, stages: ['auth', 'choose', ...many, 'permit', tries] }
    const started = process.threadCpuUsage()
    const lines = findings({ 'p.yaml': text(plan) }, registryOf([...stages, ...givers]))
    expect(unpaid(lines)).to.deep.equal(['limit'])
    const { user, system } = process.threadCpuUsage(started)
    expect((user + system) / 1_000, 'milliseconds of this thread').to.be.below(5_000)
  })
})

/** Numbers from 0 to 1, always the same (mulberry32). */
function seeded(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
}
