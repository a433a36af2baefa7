import { mock } from 'node:test'
import { expect } from 'chai'
import { pino } from 'pino'
import { GatewayError, defineStage, noConfig } from '../../../engine/index.ts'
import type { AnyStage, Candidate, End, SlotName } from '../../../engine/index.ts'
import { finish } from '../../../engine/pipeline/finish.ts'
import { execute } from '../../../engine/pipeline/run.ts'
import type { Bag } from '../../../engine/pipeline/bag.ts'
import type { CompiledPipeline } from '../../../engine/pipeline/run.ts'
import { TestScope, compiled, findings, registryOf, stub, stubs } from './stubs.ts'

type Work = (slots: Record<string, unknown>, end: End) => unknown

/** A stage that settles with further slots. */
function settler(name: string, settles: readonly string[], run: (slots: Bag, settle: (work: Work) => void) => object) {
  const build = () => (slots: Bag, _: unknown, settle: (work: Work) => void) => run(slots, settle)
  return { ...stub(name, [], [], build as unknown as AnyStage['build']), settles: settles as SlotName[] }
}

/** A stage that has one thing to do afterwards. */
function takes(name: string, work: Work, settles: readonly string[] = []): AnyStage {
  return settler(name, settles, (_, settle) => {
    settle(work)
    return {}
  })
}

const reply = stub('reply', [], ['reply'])
const bill = 'acme.bill' as SlotName
const file = (stages: string, after = '[]') =>
  `name: p\nsummary: s.\nroutes: [GET /p]\npublic: true\nstages: ${stages}\nfinally: ${after}\n`

function pipeline(stages: string, known: readonly AnyStage[], after?: string): CompiledPipeline {
  const made = compiled({ 'p.yaml': file(stages, after) }, [reply, ...known]).get('p')
  if (!made) throw new Error('not compiled')
  return made
}

/** Runs a pipeline to its end. */
async function run(made: CompiledPipeline, slots: Bag = {}, scope = new TestScope()) {
  const error = await execute(made, slots, scope).then(
    () => undefined,
    (thrown: GatewayError) => thrown,
  )
  slots.outcome = 'done' as never
  const failures = await finish(made, slots, scope, error)
  return { error, failures, scope, slots }
}

describe('settling', () => {
  let done: string[]
  beforeEach(() => (done = []))
  const notes = (name: string, settles: readonly string[] = []) => takes(name, () => done.push(name), settles)
  const after = (name: string, provides: SlotName[] = [], work = () => {}) =>
    stub(name, ['outcome'], provides, () => async () => {
      await Promise.resolve()
      done.push(name)
      work()
      return Object.fromEntries(provides.map((slot) => [slot, name]))
    })

  it('comes before "finally" for what takes nothing of it, and after it for what does, newest first', async () => {
    const known = [notes('a'), notes('b', ['outcome']), notes('c', [bill]), notes('d', [bill, 'outcome']), notes('e')]
    await run(pipeline('[a, b, c, reply, d, e]', [...known, after('price', [bill])], '[price]'))
    expect(done).to.deep.equal(['e', 'b', 'a', 'price', 'd', 'c'])
  })

  it('sees the slots of everybody and how it ended', async () => {
    const seen: unknown[] = []
    const hold = takes('hold', ({ outcome, reply: last, [bill]: given }, end) => seen.push(outcome, last, given, end), [
      bill,
    ])
    await run(pipeline('[hold, reply]', [hold, after('price', [bill])], '[price]'))
    expect(seen).to.deep.equal(['done', "reply's reply", 'price', {}])
  })

  it('is told the error of the exchange, and nothing secret of it', async () => {
    const ends: End[] = []
    const known = [
      takes('hold', (_, end) => ends.push(end)),
      stub('fails', [], [], () => () => {
        throw new GatewayError('upstream_error', {}, { message: 'the key sk-1 is wrong', tags: ['503'] })
      }),
    ]
    await run(pipeline('[hold, fails, reply]', known))
    expect(ends).to.deep.equal([{ error: { code: 'upstream_error', message: 'the key ••• is wrong', tags: ['503'] } }])
  })

  it('is done once, for each time that it was said, also of a stage that fails itself', async () => {
    const twice = settler('twice', [], (_, settle) => {
      settle(() => done.push('first'))
      settle(() => done.push('second'))
      throw new GatewayError('refused')
    })
    const made = pipeline('[twice, reply]', [twice])
    const { scope, slots, error } = await run(made)
    expect(error).to.have.property('code', 'refused')
    expect(done).to.deep.equal(['second', 'first'])
    await finish(made, slots, scope)
    expect(done).to.have.length(2)
  })

  it('leaves nothing of the exchange with whoever still holds its scope', async () => {
    const { scope } = await run(pipeline('[a, reply]', [notes('a')]))
    expect(done).to.deep.equal(['a'])
    expect(scope.settlement).to.equal(undefined)
  })

  it('costs nothing where no stage settles', async () => {
    const { scope } = await run(pipeline('[reply]', [after('notes')], '[notes]'))
    expect(scope.settlement).to.equal(undefined)
    const plain = stub('plain', [], ['reply'], () => (...given: unknown[]) => ({ reply: given.length }))
    const { slots } = await run(pipeline('[plain]', [plain]))
    expect(slots.reply).to.equal(2)
  })

  it('is typed by what a stage declares', () => {
    const settles = defineStage({
      name: 'settles',
      summary: 'Settles with what is sure, and with what may be there.',
      config: noConfig,
      needs: ['principal'],
      provides: [],
      settles: ['outcome', 'bill'],
      build: () => (_, __, settle) => {
        settle(({ outcome, bill, principal }) => {
          // @ts-expect-error what gives a bill may have failed
          const { cost } = bill
          return [outcome.status, principal.id, cost] satisfies [number, string, unknown]
        })
        return {}
      },
    })
    const plain = defineStage({
      name: 'plain',
      summary: 'Settles nothing.',
      config: noConfig,
      needs: [],
      provides: [],
      // @ts-expect-error it declares none of it
      build: () => (_, __, settle) => settle({}),
    })
    expect([settles.settles, plain.settles]).to.deep.equal([['outcome', 'bill'], undefined])
  })

  for (const where of ['the exchange', 'a try'])
    it(`holds ${where} open until a stage has come back whose time was over, and has settled`, async () => {
      const reserve = Promise.withResolvers<void>()
      const given = Promise.withResolvers<void>()
      const slowly = settler('slowly', [], async (_, settle) => {
        await reserve.promise
        settle(async () => {
          done.push('settles')
          await given.promise
          done.push('settled')
        })
        return {}
      })
      const offer = stub('offer', [], ['candidates'], () => () => ({
        candidates: [{ model: { name: 'a' }, provider: { name: 'p' } } as Candidate],
      }))
      const step = '{ slowly: null, timeout: 10ms }'
      const steps =
        where === 'a try' ? `[offer, { attempt: { over: candidates, do: [${step}] } }, reply]` : `[${step}, reply]`
      const running = run(pipeline(steps, [slowly, offer, after('log')], '[log]')).then(({ error }) => {
        done.push('over')
        return error?.code
      })
      while (!done.includes('log')) await new Promise(setImmediate)
      reserve.resolve()
      while (!done.includes('settles')) await new Promise(setImmediate)
      given.resolve()
      expect(await running).to.equal('stage_timeout')
      expect(done).to.deep.equal(['log', 'settles', 'settled', 'over'])
    })

  describe('within an attempt', () => {
    const candidates = ['a', 'b', 'c'].map(
      (name) => ({ model: { name }, provider: { name } }) as unknown as Candidate,
    ) as readonly Candidate[]
    const attempt = (steps: string) =>
      `[hold, { attempt: { over: candidates, tries: 3, on: [5xx], wait: 0ms, do: ${steps} } }, reply]`
    const offer = stub('hold', [], ['candidates'], () => () => ({ candidates }))
    const nameOf = (slots: Record<string, unknown>) => (slots['model'] as Candidate).model.name
    const slot: Work = (slots, { error }) => done.push(`${nameOf(slots)} ${error?.code ?? 'served'}`)
    const asks = (served: string) =>
      stub('asks', ['model'], [], () => ({ model }) => {
        done.push(`ask ${model.model.name}`)
        if (model.model.name !== served) throw new GatewayError('upstream_error', {}, { tags: ['503'] })
        return {}
      })

    it('a try that failed settles at once, with its own slots and error, and the one that served with the exchange', async () => {
      const made = pipeline(attempt('[take, asks]'), [offer, takes('take', slot), asks('c'), after('log')], '[log]')
      await run(made)
      expect(done).to.deep.equal(['ask a', 'a upstream_error', 'ask b', 'b upstream_error', 'ask c', 'c served', 'log'])
    })

    it('the last try settles at once, too, and what was taken before the attempt when the exchange is over', async () => {
      const before = takes('before', (_, { error }) => done.push(`before ${error?.code}`))
      const made = pipeline(attempt('[take, asks]').replace('[hold', '[before, hold'), [
        offer,
        before,
        takes('take', slot),
        asks('none'),
      ])
      const { error } = await run(made)
      expect(error).to.have.property('code', 'upstream_error')
      expect(done.slice(-3)).to.deep.equal(['ask c', 'c upstream_error', 'before upstream_error'])
    })

    it('the next candidate is asked when it has settled', async () => {
      const slow: Work = async (slots) => {
        await new Promise(setImmediate)
        done.push(`${nameOf(slots)} settled`)
      }
      await run(pipeline(attempt('[take, asks]'), [offer, takes('take', slow), asks('b')]))
      expect(done).to.deep.equal(['ask a', 'a settled', 'ask b', 'b settled'])
    })

    it('an attempt inside another one settles with the try around it', async () => {
      const inner = '[{ attempt: { over: candidates, tries: 1, on: [], wait: 0ms, do: [take] } }, fails]'
      let asked = 0
      const fails = stub('fails', [], [], () => () => {
        if (++asked === 1) throw new GatewayError('upstream_error', {}, { tags: ['503'] })
        return {}
      })
      await run(pipeline(attempt(inner), [offer, takes('take', slot), fails, after('log')], '[log]'))
      expect(done).to.deep.equal(['a upstream_error', 'a served', 'log'])
    })

    it('what "otherwise" takes settles with the exchange', async () => {
      const steps = attempt('[asks], otherwise: [take]')
      const take = takes('take', (slots, { error }) =>
        done.push(`${slots['reply'] as string} ${error?.code ?? 'well'}`),
      )
      await run(pipeline(steps, [offer, take, asks('none')]))
      expect(done.at(-1)).to.equal("reply's reply well")
    })

    it('what a stage says after its try has failed is done at once', async () => {
      let late: () => void = () => undefined
      const slowly = settler('slowly', [], ({ model }, settle) => {
        if (model?.model.name === 'a') late = () => settle(slot)
        return {}
      })
      const calls = stub('late', ['model'], [], () => ({ model }) => {
        if (model.model.name === 'b') late()
        return {}
      })
      await run(pipeline(attempt('[late, slowly, asks]'), [offer, slowly, calls, asks('b')]))
      expect(done).to.deep.equal(['ask a', 'a upstream_error', 'ask b'])
    })
  })

  describe('that fails', () => {
    const lines: Record<string, unknown>[] = []
    const log = pino({ base: null }, { write: (line) => void lines.push(JSON.parse(line)) })
    beforeEach(() => (lines.length = 0))
    const logged = (stages: string, known: readonly AnyStage[], after?: string) =>
      compiled({ 'p.yaml': file(stages, after) }, [reply, ...known], true, log).get('p')!

    it('is logged at its place and stops no other', async () => {
      const known = [
        notes('first'),
        takes('breaks', () => {
          throw new Error('boom')
        }),
        takes('rejects', () => Promise.reject(new Error('later'))),
        after('log'),
      ]
      const { failures } = await run(logged('[first, breaks, rejects, reply]', known, '[log]'))
      expect(done).to.deep.equal(['first', 'log'])
      expect(failures).to.deep.equal([])
      expect(lines.map(({ msg, at, id }) => ({ msg, at, id }))).to.deep.equal([
        { msg: '"rejects" could not settle', at: 'p.yaml:5:25 (rejects)', id: 'exchange' },
        { msg: '"breaks" could not settle', at: 'p.yaml:5:17 (breaks)', id: 'exchange' },
      ])
    })

    it('is waited for, for 5 seconds', async () => {
      mock.timers.enable({ apis: ['setTimeout'] })
      try {
        const hangs = takes('hangs', () => new Promise(() => undefined))
        let over = false
        const ended = run(logged('[hangs, reply]', [hangs, after('log')], '[log]')).then(() => (over = true))
        await new Promise(setImmediate)
        mock.timers.tick(4_999)
        await new Promise(setImmediate)
        expect(over).to.equal(false)
        mock.timers.tick(1)
        await ended
        expect(done).to.deep.equal(['log'])
        expect(lines.map(({ msg }) => msg)).to.deep.equal([
          '"hangs" has not settled within 5000 ms; the gateway does not wait any longer',
        ])
      } finally {
        mock.timers.reset()
      }
    })
  })
})

describe('what stages settle with', () => {
  const known = [
    ...stubs,
    notesOf('limit', ['outcome', bill]),
    notesOf('slots', []),
    stub('price', ['outcome'], [bill]),
  ]
  const registry = registryOf(known)
  const served = (stages: string, after: string, name = 'p') =>
    `name: ${name}\nsummary: s.\nroutes: [POST /${name}]\nstages: ${stages}\nfinally: ${after}\n`
  const start = 'auth, { parse: {} }, resolve, select'

  it('must be given, in "finally" if not before', () => {
    const found = findings({ 'p.yaml': served(`[${start}, limit, reply]`, '[log]') }, registry)
    expect(found.join('\n')).to.include('"limit" settles with "acme.bill", which nothing in "p" gives')
    expect(found, found.join('\n')).to.have.length(1)
    expect(findings({ 'p.yaml': served(`[${start}, limit, reply]`, '[price, log]') }, registry)).to.deep.equal([])
  })

  it('is no outcome within an attempt', () => {
    const steps = `[${start}, { attempt: { over: candidates, do: [limit, slots, call, answer] } }]`
    const found = findings({ 'p.yaml': served(steps, '[price]') }, registry)
    expect(found, found.join('\n')).to.have.length(1)
    expect(found[0]).to.include('"limit" settles with "outcome", which a failed try does not have')
  })

  it('is proved of each pipeline that is served, at the place of the include', () => {
    const texts = {
      'good.yaml': served(`[${start}, { use: inner }]`, '[price]', 'good'),
      'bad.yaml': served(`[${start}, { use: inner }]`, '[log]', 'bad'),
      'tries.yaml': served(`[${start}, { attempt: { over: candidates, do: [{ use: inner }] } }]`, '[price]', 'tries'),
      'inner.yaml': 'name: inner\nsummary: s.\nstages: [limit, reply]\n',
    }
    const found = findings(texts, registry)
    expect(found, found.join('\n')).to.have.length(2)
    expect(found.every((line) => line.startsWith('inner.yaml:3:10'))).to.equal(true)
    expect(found.some((line) => line.includes('nothing in "bad" gives'))).to.equal(true)
    expect(found.some((line) => line.includes('"outcome"'))).to.equal(true)
  })
})

function notesOf(name: string, settles: readonly string[]): AnyStage {
  return takes(name, () => undefined, settles)
}
