import { expect } from 'chai'
import type { Host, Json, JsonObject, Scope } from '../../../engine/index.ts'
import { WorkError, WorkerPool } from '../../../engine/workers/pool.ts'
import stage from '../../../plugins/counting/estimate-tokens.ts'

const hello: JsonObject = { model: 'm', messages: [{ role: 'user', content: 'Hello, world!' }] }

/** What the stage answers and notes when the gateway runs work as given. */
async function answer(work: Host['work'], body: JsonObject, protocol = 'count-tokens', counting = stage) {
  const notes = new Map<string, Json>()
  const warnings: unknown[] = []
  const host = {
    work,
    pipeline: { name: protocol, protocol },
    log: { warn: (given: unknown) => warnings.push(given) },
  } as unknown as Host
  const scope = { note: (key: string, value: Json) => notes.set(key, value) } as unknown as Scope
  const { reply, measurement } = await counting.build({}, host)({ request: { body } }, scope)
  expect(measurement.read()).to.deep.equal({ complete: true, losses: [] })
  return { reply, counted: notes.get('token_count'), warnings: warnings.length }
}

const replied = (tokens: number) => ({
  status: 200,
  headers: {},
  body: { kind: 'json', value: { input_tokens: tokens } },
})

describe('estimate-tokens', function () {
  it('counts in the worker pool', async () => {
    const pool = new WorkerPool({ threads: 1 })
    try {
      // The first count loads the encoder and may be late for a client; the thread goes on and serves the next.
      const patient: Host['work'] = (module, input) => pool.run(module, input, 30_000)
      await patient(new URL('../../../plugins/counting/count.ts', import.meta.url), { texts: [], budget: 1 }, 0)
      expect(await answer(patient, hello)).to.deep.equal({ reply: replied(5), counted: 'o200k_base', warnings: 0 })
    } finally {
      await pool.close()
    }
  })

  it('finds its module after the plugin was loaded again', async () => {
    const address = (name: string) => new URL(`../../../plugins/counting/${name}`, import.meta.url).href
    const reloaded = ((await import(address('estimate-tokens.ts?v=1'))) as { default: typeof stage }).default
    expect(reloaded).to.not.equal(stage)
    const asked: string[] = []
    const work = ((module: URL) => {
      asked.push(module.href)
      return Promise.resolve({ tokens: 5, exact: true })
    }) as unknown as Host['work']
    expect((await answer(work, hello, 'count-tokens', reloaded)).reply).to.deep.equal(replied(5))
    expect(asked).to.deep.equal([address('count.ts')])
  })

  it('hands over the texts and adds images by rule', async () => {
    const content: Json = [
      { type: 'text', text: 'What is this?' },
      { type: 'image', source: { type: 'url', url: 'https://host/x.png' } },
    ]
    const asked: unknown[] = []
    const work = ((module: URL, input: unknown, deadline: number) => {
      asked.push([module.pathname.split('/').at(-1), input, deadline])
      return Promise.resolve({ tokens: 6, exact: true })
    }) as Host['work']
    expect((await answer(work, { messages: [{ role: 'user', content }] })).reply).to.deep.equal(replied(1606))
    expect(asked).to.deep.equal([['count.ts', { texts: ['user', 'What is this?'], budget: 150 }, 10_000]])
  })

  it('counts the items of the responses protocol, and answers in its form', async () => {
    const asked: unknown[] = []
    const work = ((_: URL, input: unknown) => {
      asked.push(input)
      return Promise.resolve({ tokens: 6, exact: true })
    }) as Host['work']
    const content = [
      { type: 'input_text', text: 'What is this?' },
      { type: 'input_image', image_url: 'https://host/x.png', detail: 'low' },
    ]
    const { reply } = await answer(work, { model: 'm', input: [{ role: 'user', content }] }, 'input-tokens')
    expect(reply.body).to.deep.equal({ kind: 'json', value: { object: 'response.input_tokens', input_tokens: 1606 } })
    expect(asked).to.deep.equal([{ texts: ['user', 'What is this?'], budget: 150 }])
  })

  it('says when the worker ran out of time', async () => {
    const work = (() => Promise.resolve({ tokens: 9, exact: false })) as unknown as Host['work']
    expect(await answer(work, hello)).to.deep.equal({ reply: replied(9), counted: 'estimate', warnings: 0 })
  })

  it('estimates when the pool is full or gone, and when it does not answer in time', async () => {
    const estimated = { reply: replied(6), counted: 'estimate' }
    const full = () => Promise.reject(new WorkError('full', 'full'))
    expect(await answer(full, hello)).to.deep.equal({ ...estimated, warnings: 1 })
    const silent = () => new Promise<never>(() => {})
    expect(await answer(silent, hello)).to.deep.equal({ ...estimated, warnings: 0 })
  })

  it('hands over no more than a worker can count', async () => {
    const never = () => Promise.reject(new Error('asked'))
    const body = { messages: [{ role: 'user', content: 'a'.repeat(4_000_000) }] }
    expect(await answer(never, body)).to.deep.equal({
      reply: replied(Math.ceil(4_000_000 / 3.5) + 2),
      counted: 'estimate',
      warnings: 0,
    })
  })
})
