import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { mock } from 'node:test'
import { performance } from 'node:perf_hooks'
import { isMainThread, Worker, workerData } from 'node:worker_threads'
import { expect } from 'chai'
import fc from 'fast-check'
import { pino } from 'pino'
import { GatewayError, passedOver } from '../../../engine/index.ts'
import type { AnyStage, Candidate, End, Scope, SlotName } from '../../../engine/index.ts'
import { runExchange } from '../../../engine/http/exchange.ts'
import { ExchangeScope } from '../../../engine/http/scope.ts'
import type { Bag } from '../../../engine/pipeline/bag.ts'
import { beat } from '../../../engine/pipeline/deadline.ts'
import { compiled, stub } from './stubs.ts'

/** What a stage does when it runs for the nth time. */
const acts = [
  'gives',
  'waits',
  'calls back at once',
  'gives nothing',
  'fails',
  'fails later',
  'refuses',
  'passes over',
  'hangs',
  'answers late',
  'leaves',
] as const
type Act = (typeof acts)[number]

/** What a settling stage does at the end. */
const ends = ['settles', 'settles later', 'throws', 'hangs'] as const

interface Leaf {
  readonly word: 'mark' | 'tell' | 'hint' | 'hold' | 'warn'
  readonly acts: readonly Act[]
  readonly end: (typeof ends)[number]
}
interface Limit {
  readonly timeout: string | undefined
}
type Node =
  | Leaf
  | ({ readonly use: readonly Node[] } & Limit)
  | ({ readonly switch: readonly { readonly when?: object | undefined; readonly do: readonly Node[] }[] } & Limit)
  | ({
      readonly attempt: { readonly tries: number; readonly do: readonly Node[]; readonly otherwise?: readonly Node[] }
    } & Limit)

const timeout = fc.option(fc.constantFrom('150ms', '400ms'), { nil: undefined, freq: 3 })
const usually = fc.constantFrom<Act>('gives', 'gives', 'waits')
const leaf: fc.Arbitrary<Leaf> = fc.record({
  word: fc.constantFrom<Leaf['word']>('mark', 'tell', 'hint', 'hold', 'hold', 'warn'),
  acts: fc.array(fc.oneof({ weight: 3, arbitrary: usually }, { weight: 2, arbitrary: fc.constantFrom(...acts) }), {
    minLength: 1,
    maxLength: 3,
  }),
  end: fc.constantFrom(...ends),
})
const conditions = fc.shuffledSubarray(
  [
    { target: true },
    { request: false },
    { 'target.name': { prefix: 'step 1' } },
    { 'ingress.method': ['GET', 'PUT'], target: false },
    // A value that cannot be read.
    { 'target.virtual': true },
  ],
  { minLength: 1, maxLength: 2 },
)
const { steps } = fc.letrec<{ node: Node; steps: readonly Node[] }>((tie) => ({
  node: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    { weight: 4, arbitrary: leaf },
    { weight: 1, arbitrary: fc.record({ use: tie('steps'), timeout }) },
    {
      weight: 1,
      arbitrary: fc
        .tuple(conditions, tie('steps'), tie('steps'), fc.option(tie('steps')), timeout)
        .map(([[first, second], one, other, last, limit]) => ({
          switch: [
            { when: first, do: one },
            ...(second ? [{ when: second, do: other }] : []),
            ...(last ? [{ do: last }] : []),
          ],
          timeout: limit,
        })),
    },
    {
      weight: 2,
      arbitrary: fc.record({
        attempt: fc.record(
          { tries: fc.integer({ min: 1, max: 3 }), do: tie('steps'), otherwise: tie('steps') },
          { requiredKeys: ['tries', 'do'] },
        ),
        timeout,
      }),
    },
  ),
  steps: fc.array(tie('node'), { minLength: 1, maxLength: 3 }),
}))
const pipelines = fc.record({
  candidates: fc.integer({ min: 0, max: 3 }),
  stages: steps,
  finally: fc.array(steps, { maxLength: 2 }),
  bill: fc.constantFrom(...acts),
})
type Generated = typeof pipelines extends fc.Arbitrary<infer T> ? T : never

/** A pipeline as its author would write it, and its includes. */
function written({ stages, finally: after, bill }: Generated): Record<string, string> {
  const files: Record<string, string> = {}
  let count = 0
  const file = (name: string, content: object) =>
    (files[`${name}.yaml`] = JSON.stringify({ summary: 's.', name, ...content }))
  const print = (nodes: readonly Node[], mayUse: boolean): object[] => nodes.flatMap((node) => printed(node, mayUse))
  const limit = ({ timeout: value }: Limit) => (value === undefined ? {} : { timeout: value })
  const printed = (node: Node, mayUse: boolean): object[] => {
    count++
    if ('word' in node) return [{ [node.word]: { id: count, acts: node.acts, end: node.end }, timeout: '250ms' }]
    if ('use' in node) {
      const name = `include-${count}`
      const inner = print(node.use, mayUse)
      if (!mayUse) return inner
      file(name, { inputs: ['candidates', 'ingress'], stages: ['may', ...inner] })
      return [{ use: name, ...limit(node) }]
    }
    if ('switch' in node)
      return [
        {
          switch: node.switch.map((arm) => ({ ...(arm.when && { when: arm.when }), do: print(arm.do, mayUse) })),
          ...limit(node),
        },
      ]
    const { tries, do: tried, otherwise } = node.attempt
    return [
      {
        attempt: {
          over: 'candidates',
          tries,
          wait: '120ms',
          do: print(tried, mayUse),
          ...(otherwise && { otherwise: print(otherwise, mayUse) }),
        },
        ...limit(node),
      },
    ]
  }
  file('p', {
    routes: ['GET /p'],
    public: true,
    stages: ['seed', { owe: { id: 0, acts: ['gives'], end: 'settles' } }, ...print(stages, true), 'reply'],
    finally: ['seed', ...after.flatMap((nodes) => print(nodes, true)), { price: { id: -1, acts: [bill] } }, 'spend'],
  })
  return files
}

const busy = () => new GatewayError('upstream_error', {}, { tags: ['503'] })
/** The whole of one exchange, as it can be seen from outside. */
class Observed {
  readonly seen: unknown[] = []
  #now = 0

  /** The clock is in the hand of the test. */
  get now(): number {
    return this.#now
  }

  note(...what: unknown[]): void {
    this.seen.push([this.#now, ...what])
  }

  /** A stage takes a part of a millisecond, so that each of them has its time. */
  spend(): void {
    this.#now += 0.25
  }

  /** Lets time pass until a promise has settled, and then until nothing is left to happen. */
  async until(over: Promise<unknown>): Promise<void> {
    let left = Infinity
    void over.then(
      () => (left = 12),
      () => (left = 12),
    )
    for (let steps = 0; left > 0; steps++, left--) {
      await new Promise(setImmediate)
      // At most the time between two looks at deadlines: what is settled meanwhile comes before the next look.
      const passes = steps > 80 ? beat : beat / 4
      this.#now += passes
      mock.timers.tick(passes)
    }
  }
}

function stages(observed: Observed): AnyStage[] {
  const counts = new Map<number, number>()
  /** The act of a stage: gives its slots, throws, or returns a promise. */
  const run = ({ id, acts: all = ['gives'] }: { id: number; acts?: readonly Act[] }, provides: readonly SlotName[]) => {
    return (slots: Bag, scope: Scope & { abort?: (reason: Error) => void }): unknown => {
      const count = counts.get(id) ?? 0
      counts.set(id, count + 1)
      const act = all[count % all.length] as Act
      const named = (slot: string) => ({
        name: `step ${id} gives ${slot}`,
        get virtual(): never {
          throw new Error('a value that cannot be read')
        },
      })
      const given = Object.fromEntries(provides.map((slot) => [slot, named(slot)]))
      observed.note('runs', id, act, scope.attempt, scope.tries?.follows(busy()), shown(slots))
      observed.spend()
      const later = <T>(milliseconds: number, how: () => T) =>
        new Promise<T>((resolve, reject) => {
          setTimeout(() => {
            try {
              resolve(how())
            } catch (error) {
              reject(error)
            }
          }, milliseconds)
        })
      const fail = (error: Error): never => {
        throw error
      }
      switch (act) {
        case 'gives':
          return given
        case 'waits':
          return later(60, () => given)
        case 'calls back at once':
          return { then: (give: (given: object) => void) => give(given) }
        case 'gives nothing':
          return {}
        case 'fails':
          return fail(busy())
        case 'fails later':
          return later(60, () => fail(busy()))
        case 'refuses':
          return fail(new Error('a mistake'))
        case 'passes over':
          return fail(new GatewayError('overloaded', {}, { tags: [passedOver] }))
        case 'hangs':
          scope.onAbort((reason) => observed.note('is stopped', id, reason.message))
          return new Promise(() => undefined)
        case 'answers late':
          return later(310, () => given)
        case 'leaves':
          scope.abort?.(new GatewayError('client_closed'))
          return later(60, () => fail(busy()))
      }
    }
  }
  const config = {
    type: 'object',
    additionalProperties: false,
    properties: {
      id: { type: 'integer', default: 0, description: 'i.' },
      acts: { type: 'array', items: { type: 'string' }, default: ['gives'], description: 'a.' },
      end: { type: 'string', default: 'settles', description: 'e.' },
    },
  }
  type Config = { id: number; acts: readonly Act[]; end: (typeof ends)[number] }
  const plain = (name: string, needs: SlotName[], provides: SlotName[], gives: SlotName[] = []): AnyStage => ({
    ...stub(name, needs, provides, ((given: Config) => run(given, [...provides, ...gives])) as never, config),
    gives,
  })
  const settling = (name: string, settles: SlotName[]): AnyStage => ({
    ...stub(
      name,
      [],
      [],
      ((given: Config) => {
        const act = run(given, [])
        return (slots: Bag, scope: Scope, settle: (work: (slots: Bag, end: End) => unknown) => void) => {
          const { id, end } = given
          const work = (after: Bag, { error }: End) => {
            observed.note('settles', id, shown(after), error)
            observed.spend()
            if (end === 'throws') throw new Error('it cannot')
            if (end === 'settles later') return new Promise((resolve) => setTimeout(resolve, 30))
            return end === 'hangs' ? new Promise(() => undefined) : undefined
          }
          settle(work)
          // Also when it is late. The clock is mocked: nobody waits for it.
          if (end === 'settles later') setTimeout(() => settle(work), 260)
          return act(slots, scope)
        }
      }) as never,
      config,
    ),
    settles,
  })
  const candidates = ['a', 'b', 'c'].map(
    (name) => ({ model: { name }, provider: { name: `at-${name}` } }) as unknown as Candidate,
  )
  return [
    {
      ...stub('seed', [], ['candidates'], () => ({ ingress }: Bag) => ({
        candidates: candidates.slice(0, Number(ingress?.path)),
      })),
      gives: ['target', 'request'],
    },
    { ...stub('may', [], [], () => () => ({})), gives: ['target', 'request'] },
    plain('mark', [], []),
    plain('tell', [], ['target']),
    plain('hint', [], [], ['request']),
    {
      ...plain('warn', [], []),
      unreached:
        ({ id }: { readonly id?: unknown }) =>
        (slots: Bag, scope: Scope) => {
          observed.note('was not reached', id, shown(slots))
          scope.header(`x-${String(id)}`, 'missed')
        },
    },
    settling('hold', []),
    settling('owe', ['bill']),
    plain('price', ['outcome'], ['bill']),
    plain('spend', ['bill'], []),
    stub('reply', [], ['reply'], () => () => ({ reply: { status: 200, headers: {}, body: { kind: 'none' } } })),
  ]
}

/** Slots by name, as a text. */
function shown(slots: Bag): string {
  return Object.entries(slots)
    .filter(([slot, value]) => slot !== 'ingress' && slot !== 'outcome' && value !== undefined)
    .map(
      ([slot, value]) =>
        `${slot}: ${JSON.stringify((value as { name?: string }).name ?? (value as Partial<Candidate>).model ?? null)}`,
    )
    .sort()
    .join(', ')
}

/** Runs a pipeline, and tells everything that can be seen of it. */
async function observe(generated: Generated): Promise<readonly unknown[]> {
  const observed = new Observed()
  const log = pino({ base: null, timestamp: false }, { write: (line) => observed.note('logs', told(line)) })
  performance.now = () => observed.now
  const random = mock.method(Math, 'random', () => 0.5)
  mock.timers.enable({ apis: ['setTimeout', 'setInterval'] })
  try {
    const made = compiled(written(generated), stages(observed), true, log).get('p')!
    const scope = new ExchangeScope('exchange')
    const slots = { ingress: { method: 'GET', path: String(generated.candidates), headers: {} } } as unknown as Bag
    const exchange = Promise.resolve(
      runExchange(made, undefined, slots, scope, async ({ status }, headers, error) => {
        observed.note('sends', status, { ...headers }, error && [error.code, error.at, error.message, error.tags])
        await new Promise((resolve) => setTimeout(resolve, 20))
        return { bytes: 1, firstByte: undefined, left: false }
      }),
    )
    await observed.until(exchange)
    const { outcome, failures } = await exchange
    const laps = scope.laps.map(({ stage, ...lap }) => ({ ...lap, path: stage.path }))
    const failed = failures.map(({ code, at, message }) => ({ code, at, message }))
    return [
      ...observed.seen,
      outcome,
      failed,
      laps,
      [...scope.notes],
      shown(slots),
      scope.attempt,
      scope.tries,
      scope.deadline,
      scope.settlement,
    ]
  } finally {
    mock.timers.reset()
    random.mock.restore()
    // The clock itself stands on the prototype.
    Reflect.deleteProperty(performance, 'now')
  }
}

/** What a line of the log says, without the stack of its error. */
function told(line: string): object {
  const { err, ...others } = JSON.parse(line) as { err?: { message: string } }
  return { ...others, err: err?.message }
}

async function programsAndInterpreterAgree(): Promise<void> {
  const listener = () => undefined
  await fc.assert(
    fc.asyncProperty(pipelines, async (generated) => {
      const program = await observe(generated)
      subscribe('sluice:stage:start', listener)
      try {
        expect(program).to.deep.equal(await observe(generated))
      } finally {
        unsubscribe('sluice:stage:start', listener)
      }
    }),
    { seed: 133, numRuns: 60, includeErrorInReport: true },
  )
}

if (!isMainThread && workerData === import.meta.url) await programsAndInterpreterAgree()
else
  describe('a program', () => {
    it('does what the interpreter does, whatever fails, waits, settles or is late', async () => {
      // In a thread of its own: the real timer of what other tests left waiting would run beside the mocked one.
      const thread = new Worker(new URL(import.meta.url), { workerData: import.meta.url })
      const [code] = await once(thread, 'exit')
      expect(code).to.equal(0)
    })
  })
