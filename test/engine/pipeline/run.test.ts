import { expect } from 'chai'
import { pino } from 'pino'
import { GatewayError } from '../../../engine/index.ts'
import type { Bag } from '../../../engine/pipeline/bag.ts'
import { finish } from '../../../engine/pipeline/finish.ts'
import { execute } from '../../../engine/pipeline/run.ts'
import { LapScope, TestScope, compiled, stub } from './stubs.ts'

const file = (stages: string) => `name: p\nsummary: s.\nroutes: [GET /p]\npublic: true\nstages: ${stages}\n`
const ingress = { ingress: { method: 'GET' } } as unknown as Bag

function pipeline(stages: string, extra: Parameters<typeof compiled>[1] = [], strict = true) {
  const made = compiled({ 'p.yaml': file(stages) }, [stub('reply', [], ['reply']), ...extra], strict).get('p')
  if (!made) throw new Error('not compiled')
  return made
}

async function failure(promise: Promise<unknown>): Promise<GatewayError> {
  return promise.then(
    () => {
      throw new Error('did not fail')
    },
    (error: GatewayError) => error,
  )
}

describe('running a pipeline', () => {
  it('runs synchronous and asynchronous stages in order and keeps what they provide', async () => {
    const seen: string[] = []
    const sync = stub('one', ['ingress'], ['principal'], () => () => {
      seen.push('one')
      return { principal: 'me' }
    })
    const later = stub('two', ['principal'], ['request'], () => async ({ principal }) => {
      await Promise.resolve()
      seen.push(`two for ${String(principal)}`)
      return { request: 'asked' }
    })
    const scope = new TestScope()
    const slots: Bag = { ...ingress }
    await execute(pipeline('[one, two, reply]', [sync, later]), slots, scope)
    expect(seen).to.deep.equal(['one', 'two for me'])
    expect(slots).to.deep.equal({ ...ingress, principal: 'me', request: 'asked', reply: "reply's reply" })
    expect(scope.laps.map(({ stage }) => stage.name)).to.deep.equal(['one', 'two', 'reply'])
    expect(scope.laps.every(({ milliseconds }) => milliseconds >= 0)).to.equal(true)
  })

  it('gives each stage the time since the one before it ended, failing ones too', async () => {
    const fails = stub('fails', [], [], () => async () => {
      await Promise.resolve()
      throw new GatewayError('invalid_api_key')
    })
    const scope = new LapScope()
    await failure(execute(pipeline('[reply, reply, fails]', [fails]), { ...ingress }, scope))
    expect(scope.timed).to.deep.equal(['reply', 'reply', 'fails'])
    const made = compiled({ 'p.yaml': `${file('[reply]')}finally: [notes]\n` }, [
      stub('reply', [], ['reply']),
      stub('notes', ['outcome'], [], () => () => ({})),
    ]).get('p')!
    const after = new LapScope()
    await finish(made, { ...ingress, outcome: 'done' } as unknown as Bag, after)
    expect(after.timed).to.deep.equal(['begin', 'notes'])
  })

  it("keeps a plugin's slots, and what promises of any kind give", async () => {
    const slot = 'valueOf' as 'reply'
    const other = stub('other', [], [slot], () => () => ({
      then: (give: (given: object) => void) => give({ [slot]: 'cached' }),
    }))
    const slots: Bag = { ...ingress }
    await execute(pipeline('[other, reply]', [other]), slots, new TestScope())
    expect(Object.entries(slots)).to.deep.include([slot, 'cached'])
    const refuses = stub('refuses', [], [], () => () => ({
      then: (_: unknown, refuse: (error: Error) => void) => refuse(new GatewayError('invalid_api_key')),
    }))
    const error = await failure(execute(pipeline('[refuses, reply]', [refuses]), { ...ingress }, new TestScope()))
    expect(error).to.include({ code: 'invalid_api_key', at: 'p.yaml:5:10 (refuses)' })
  })

  it('says where a stage gave nothing at all', async () => {
    for (const given of [undefined, Promise.resolve(undefined)]) {
      const gives = stub('gives', [], ['principal'], () => () => given as unknown as object)
      const error = await failure(execute(pipeline('[gives, reply]', [gives], false), { ...ingress }, new TestScope()))
      expect(error).to.include({ code: 'internal_error', at: 'p.yaml:5:10 (gives)' })
    }
  })

  it('blames the stage that did not give a slot, and none that needs it', async () => {
    for (const given of [{}, { principal: undefined }, Promise.resolve({})]) {
      const gives = stub('gives', [], ['principal'], () => () => given)
      const error = await failure(execute(pipeline('[gives, reply]', [gives], false), { ...ingress }, new TestScope()))
      expect(error).to.include({ code: 'internal_error', at: 'p.yaml:5:10 (gives)' })
      expect(error.cause).to.have.property('message', 'stage "gives" gave [] but provides [principal]')
    }
  })

  it('does not leave the tick while every stage is synchronous', () => {
    const slots: Bag = { ...ingress }
    expect(pipeline('[reply, reply]').run(slots, new TestScope())).to.equal(undefined)
    expect(slots.reply).to.equal("reply's reply")
  })

  it('takes the first arm that matches', async () => {
    const arms = `[switch: [{ when: { ingress.method: [PUT, GET], ingress: true }, do: [reply] }, { do: [other] }]]`
    const run = pipeline(arms, [stub('other', [], ['reply'])])
    const matched: Bag = { ...ingress }
    await execute(run, matched, new TestScope())
    expect(matched.reply).to.equal("reply's reply")
    const otherwise = { ingress: { method: 'POST' } } as unknown as Bag
    await execute(run, otherwise, new TestScope())
    expect(otherwise.reply).to.equal("other's reply")
  })

  it('says where a stage failed, and keeps what was provided before', async () => {
    const refused = new GatewayError('model_not_found', { model: 'x' })
    const fails = stub('fails', [], ['reply'], () => () => {
      throw refused
    })
    const breaks = stub('breaks', [], ['reply'], () => () => Promise.reject(new Error('boom')))
    const slots: Bag = { ...ingress }
    expect(await failure(execute(pipeline('[reply, fails]', [fails]), slots, new TestScope()))).to.equal(refused)
    expect(refused.at).to.equal('p.yaml:5:17 (fails)')
    expect(slots.reply).to.equal("reply's reply")
    const error = await failure(execute(pipeline('[breaks]', [breaks]), { ...ingress }, new TestScope()))
    expect(error).to.include({ code: 'internal_error', at: 'p.yaml:5:10 (breaks)' })
    expect(error.cause).to.have.property('message', 'boom')
  })

  it('refuses slots that a stage does not provide, under test only', async () => {
    const talkative = stub('reply', [], ['reply'], () => () => ({ reply: 'r', target: 't' }))
    const made = (strict: boolean) => compiled({ 'p.yaml': file('[reply]') }, [talkative], strict).get('p')!
    const error = await failure(execute(made(true), { ...ingress }, new TestScope()))
    expect(error.cause).to.have.property('message', 'stage "reply" gave [reply, target] but provides [reply]')
    const slots: Bag = { ...ingress }
    await execute(made(false), slots, new TestScope())
    expect(slots).to.deep.equal({ ...ingress, reply: 'r' })
  })

  it('keeps what a stage gives sometimes, and what was there where it gives nothing', async () => {
    const cache = {
      ...stub(
        'cache',
        [],
        ['principal'],
        () =>
          ({ ingress }) =>
            given(ingress),
      ),
      gives: ['reply'] as const,
    }
    const given = ({ method }: { method: string }) => ({
      principal: 'me',
      ...(method === 'GET' ? { reply: 'cached' } : method === 'POST' ? { reply: undefined } : {}),
      ...(method === 'PUT' ? { target: 't' } : {}),
    })
    const run = async (method: string) => {
      const slots = { ingress: { method } } as unknown as Bag
      await execute(pipeline('[reply, cache]', [cache]), slots, new TestScope())
      return slots.reply
    }
    expect(await run('GET')).to.equal('cached')
    expect(await run('POST')).to.equal("reply's reply")
    expect(await run('HEAD')).to.equal("reply's reply")
    const error = await failure(run('PUT'))
    expect(error.cause).to.have.property('message', 'stage "cache" gave [principal, target] but provides [principal]')
  })

  it('forgets between two tries what a stage gave sometimes', async () => {
    const seen: unknown[] = []
    const sometimes = {
      ...stub('sometimes', ['model'], [], () => ({ model, reply }) => {
        seen.push(reply)
        return model.model.name === 'a' ? { reply: 'of a' } : {}
      }),
      reads: ['reply'] as const,
      gives: ['reply'] as const,
    }
    const fails = stub('fails', ['model'], ['answer'], () => ({ model }) => {
      if (model.model.name === 'a') throw new GatewayError('upstream_error', {}, { tags: ['503'] })
      return { answer: 'x' }
    })
    const candidates = ['a', 'b'].map((name) => ({ model: { name }, provider: { name } }))
    const select = stub('select', [], ['candidates'], () => () => ({ candidates }))
    const slots: Bag = { ...ingress }
    const steps =
      '[select, attempt: { wait: 0ms, do: [sometimes, fails] }, switch: [{ when: { reply: false }, do: [reply] }]]'
    await execute(pipeline(steps, [select, sometimes, fails]), slots, new TestScope())
    expect({ seen, reply: slots.reply }).to.deep.equal({ seen: [undefined, undefined], reply: "reply's reply" })
  })

  it('finishes every step even when one fails, and logs the failure', async () => {
    const lines: Record<string, unknown>[] = []
    const log = pino({ base: null }, { write: (line) => void lines.push(JSON.parse(line)) })
    const done: string[] = []
    const breaks = stub('breaks', ['outcome'], [], () => () => {
      throw new Error('boom')
    })
    const notes = stub('notes', ['outcome'], [], () => async ({ outcome }) => {
      await Promise.resolve()
      done.push(outcome)
      return {}
    })
    const texts = { 'p.yaml': `${file('[reply]')}finally: [breaks, notes]\n` }
    const made = compiled(texts, [stub('reply', [], ['reply']), breaks, notes], true, log).get('p')!
    const slots = { ...ingress, outcome: 'done' } as unknown as Bag
    const failures = await finish(made, slots, new TestScope())
    expect(failures.map(({ code }) => code)).to.deep.equal(['internal_error'])
    expect(done).to.deep.equal(['done'])
    expect(lines).to.have.length(1)
    expect(lines[0]).to.deep.include({
      id: 'exchange',
      at: 'p.yaml:6:11 (breaks)',
      msg: 'a stage failed after the exchange',
    })
    expect(lines[0]?.['err']).to.include({ message: 'boom' })
  })

  it('finishes one step after the other', async () => {
    const done: string[] = []
    const step = (name: string) =>
      stub(name, ['outcome'], [], () => async () => {
        done.push(`${name} began`)
        await new Promise(setImmediate)
        done.push(`${name} ended`)
        return {}
      })
    const made = compiled({ 'p.yaml': `${file('[reply]')}finally: [one, two]\n` }, [
      stub('reply', [], ['reply']),
      step('one'),
      step('two'),
    ]).get('p')!
    await finish(made, { ...ingress, outcome: 'done' } as unknown as Bag, new TestScope())
    expect(done).to.deep.equal(['one began', 'one ended', 'two began', 'two ended'])
  })

  it('builds an include into each pipeline, with the host of that pipeline', () => {
    const hosts: string[] = []
    const reply = stub('reply', [], ['reply'], (_, host) => {
      hosts.push(`${host.pipeline.name} ${host.pipeline.protocol ?? 'none'}`)
      return () => ({ reply: 'r' })
    })
    const made = compiled(
      {
        'a.yaml':
          'name: a\nsummary: s.\nprotocol: plain\npublic: true\nroutes: [GET /a, WS /a]\nstages: [use: inner]\n',
        'b.yaml': 'name: b\nsummary: s.\npublic: true\nroutes: [GET /b/:id]\nstages: [use: inner]\n',
        'i.yaml': 'name: inner\nsummary: s.\nstages: [reply]\n',
      },
      [reply],
    )
    expect(hosts).to.deep.equal(['a plain', 'b none'])
    expect([...made.keys()]).to.deep.equal(['a', 'b'])
    expect(made.get('a')?.routes).to.deep.equal([
      { method: 'GET', path: '/a' },
      { method: 'WS', path: '/a' },
    ])
  })

  it('reports a stage that cannot be built', () => {
    const reply = stub('reply', [], ['reply'], (_, host) => {
      host.codec('nobody')
      return () => ({ reply: 'r' })
    })
    expect(() => compiled({ 'p.yaml': file('[reply]') }, [reply])).to.throw(
      'p.yaml:5:10: "reply" cannot be built: no codec speaks "nobody" [build]',
    )
  })
})
