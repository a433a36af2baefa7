import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { readdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import type { ExchangeScope } from '../../../engine/http/scope.ts'
import type { ToldExchange, ToldReply } from '../../../engine/spec/telling.ts'
import { configuration, root, sandbox } from './sandbox.ts'
import type { Sandbox } from './sandbox.ts'

const withShippedPipelines = configuration

/** A fixture of the shipped chat pipeline with two providers. */
function fixture(...tests: string[]): string {
  const head = `
pipeline: chat-completions
providers:
  - { name: first, type: compatible }
  - { name: second, type: compatible }
models:
  - { name: small, provider: first, upstream_model: small-1, fallbacks: [large] }
  - { name: large, provider: second }
tests:
`
  return head + tests.map((test) => `  - ${test}\n`).join('')
}

const request = 'request: { model: small, messages: [{ role: user, content: hi }] }'
const answer =
  '{ body: { id: a, object: chat.completion, created: 1, model: m, choices: [{ index: 0, message: { role: assistant, content: yes }, finish_reason: stop }] } }'
const frames =
  '[{ data: { id: a, object: chat.completion.chunk, created: 1, model: m, choices: [{ index: 0, delta: { content: yes }, finish_reason: null }] } }'

describe('cli/test', () => {
  let here: Sandbox
  beforeEach(async () => {
    here = await sandbox({ 'config/sluice.yaml': withShippedPipelines })
  })
  afterEach(() => here.remove())

  /** The lines that were printed, without times. */
  const lines = async (...words: string[]) => {
    const { status, out, error } = await here.run('test', ...words)
    expect(error).to.deep.equal([])
    return { status, out: out.map((line) => line.replace(/ \(\d+ ms\)$/, '')) }
  }

  it('runs the shipped fixtures', async () => {
    const files = (await readdir(join(root, 'pipelines'))).filter((name) => name.endsWith('.test.yaml'))
    expect(files.length).to.be.greaterThan(1)
    const { status, out } = await lines()
    expect(out.filter((line) => line.includes('✘'))).to.deep.equal([])
    expect(status).to.equal(0)
    expect(out.filter((line) => line.endsWith('.test.yaml'))).to.have.length(files.length)
  })

  it('runs them alike with a listener, for whom pipelines are interpreted', async () => {
    // What became of the exchanges, and which stages ran, in which order and how.
    const seen: unknown[] = []
    let scope: ToldReply['scope'] | undefined
    const replied = (message: unknown) => (scope = (message as ToldReply).scope)
    const ended = (message: unknown) => {
      const { pipeline, status, result, error } = message as ToldExchange
      const stages = (scope as ExchangeScope | undefined)?.laps.map(
        ({ stage, attempt, outcome }) => `${stage.path} ${attempt} ${outcome}`,
      )
      seen.push({ pipeline, status, result, error, stages })
    }
    const listener = () => undefined
    subscribe('sluice:reply', replied)
    subscribe('sluice:exchange:end', ended)
    try {
      const { out: program } = await lines()
      const compiled = seen.splice(0)
      expect(compiled.length).to.be.greaterThan(10)
      subscribe('sluice:stage:start', listener)
      expect((await lines()).out).to.deep.equal(program)
      expect(seen).to.deep.equal(compiled)
    } finally {
      unsubscribe('sluice:stage:start', listener)
      unsubscribe('sluice:exchange:end', ended)
      unsubscribe('sluice:reply', replied)
    }
  })

  it('tries a pipeline without those that it has nothing to do with', async () => {
    // Its model is one of the configuration, and the fixture has models of its own.
    const pinned = `
name: pinned
summary: Serves one model.
protocol: chat
routes: [POST /pinned]
without: [limit, allow, reserve, price, charge, log]
stages: [{ auth: { with: key } }, parse, { pin: { model: echo } }, { use: generate }]
`
    await here.write('pipelines/pinned.yaml', pinned)
    await here.write(
      'a.test.yaml',
      fixture(`{ name: runs, ${request}, upstream: [${answer}], expect: { asked: [small-1] } }`),
    )
    expect(await lines('a.test.yaml')).to.deep.equal({
      status: 0,
      out: ['a.test.yaml', '  ✔ runs', '', '1 passing'],
    })
  })

  it('expands no text of the configuration twice', async () => {
    const described = configuration.replace(
      'provider: echo }',
      () => 'provider: echo, description: "Costs $${NOT_SET}." }',
    )
    await here.write('config/sluice.yaml', described)
    const head = 'pipeline: chat-completions\nproviders: [{ name: echo, type: compatible }]\ntests:\n'
    const asked = 'request: { model: echo, messages: [{ role: user, content: hi }] }'
    await here.write(
      'a.test.yaml',
      `${head}  - { name: runs, ${asked}, upstream: [${answer}], expect: { asked: [echo] } }\n`,
    )
    expect(await lines('a.test.yaml')).to.deep.equal({
      status: 0,
      out: ['a.test.yaml', '  ✔ runs', '', '1 passing'],
    })
  })

  it('asks the candidates in order and answers what the last one says', async () => {
    const expected =
      'expect: { asked: [small-1, { provider: second, path: /chat/completions, body: { model: large } }], slots: { model.model.name: large }, reply: { status: 200, body: { choices: [{ message: { content: yes } }] } } }'
    await here.write(
      'a.test.yaml',
      fixture(`{ name: falls back, ${request}, upstream: [{ status: 503 }, ${answer}], ${expected} }`),
    )
    expect(await lines('a.test.yaml')).to.deep.equal({
      status: 0,
      out: ['a.test.yaml', '  ✔ falls back', '', '1 passing'],
    })
  })

  it('prints every difference', async () => {
    const expected =
      'expect: { asked: [small-2, large], slots: { request.protocol: x, nothing.at.all: 1 }, reply: { status: 201, headers: { x-gateway-nothing: 1 }, body: { choices: [{ message: { content: no } }] } } }'
    await here.write('a.test.yaml', fixture(`{ name: is wrong, ${request}, upstream: [${answer}], ${expected} }`))
    const { status, out } = await lines('a.test.yaml')
    expect(status).to.equal(1)
    expect(out).to.deep.equal([
      'a.test.yaml',
      '  ✘ is wrong',
      '      reply.status',
      '        expected 201',
      '        actual   200',
      '      reply.headers.x-gateway-nothing',
      '        expected "1"',
      '        actual   nothing',
      '      reply.body.choices[0].message.content',
      '        expected "no"',
      '        actual   "yes"',
      '      asked[0]',
      '        expected "small-2"',
      '        actual   "small-1"',
      '      asked[1]',
      '        expected "large"',
      '        actual   nothing',
      '      slots.request.protocol',
      '        expected "x"',
      '        actual   "chat"',
      '      slots.nothing.at.all',
      '        expected 1',
      '        actual   nothing',
      '',
      '0 passing, 1 failing',
    ])
  })

  it('reports a request to an upstream that was not expected', async () => {
    await here.write(
      'a.test.yaml',
      fixture(`{ name: asks nobody, ${request}, upstream: [${answer}], expect: { asked: [] } }`),
    )
    const { status, out } = await lines('a.test.yaml')
    expect(status).to.equal(1)
    expect(out.slice(2, 5)).to.deep.equal(['      asked[0]', '        expected nothing', '        actual   "small-1"'])
  })

  it('compares streams frame by frame, from files too', async () => {
    const streamed = 'request: { model: small, stream: true, messages: [{ role: user, content: hi }] }'
    await here.write(
      'frames.txt',
      'data: {"id":"a","choices":[{"index":0,"delta":{"content":"yes"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n',
    )
    await here.write(
      'a.test.yaml',
      fixture(
        `{ name: inline, ${streamed}, upstream: [{ frames: ${frames.replace('finish_reason: null', 'finish_reason: stop')}, { data: '[DONE]' }] }], expect: { reply: { frames: [{ data: { choices: [{ delta: { content: yes } }] } }, { data: '[DONE]' }] } } }`,
        `{ name: file, ${streamed}, upstream: [{ frames: frames.txt }], expect: { reply: { frames: frames.txt } } }`,
        `{ name: fewer, ${streamed}, upstream: [{ frames: frames.txt }], expect: { reply: { frames: [{ data: { id: a } }] } } }`,
      ),
    )
    const { status, out } = await lines('a.test.yaml')
    expect(status).to.equal(1)
    expect(out.slice(1, 7)).to.deep.equal([
      '  ✔ inline',
      '  ✔ file',
      '  ✘ fewer',
      '      reply.frames[1]',
      '        expected nothing',
      '        actual   {"data":"[DONE]"}',
    ])
  })

  it('says how a stream that breaks ends', async () => {
    const streamed = 'request: { model: small, stream: true, messages: [{ role: user, content: hi }] }'
    const expected =
      'expect: { slots: { outcome.result: failed }, reply: { status: 200, frames: [{ data: { choices: [{ delta: { content: yes } }] } }, { data: { error: { type: server_error } } }] } }'
    await here.write(
      'a.test.yaml',
      fixture(`{ name: breaks, ${streamed}, upstream: [{ frames: ${frames}], cut: true }], ${expected} }`),
    )
    const { out } = await lines('a.test.yaml')
    expect(out).to.deep.equal(['a.test.yaml', '  ✔ breaks', '', '1 passing'])
  })

  it('asks another route, with other headers and a body that is no JSON', async () => {
    await here.write(
      'a.test.yaml',
      fixture(
        '{ name: no JSON, request: "{", expect: { asked: [], reply: { status: 400, body: { error: { code: invalid_json } } } } }',
        `{ name: no key, headers: { authorization: Bearer nobody }, ${request}, expect: { reply: { status: 401 } } }`,
        `{ name: other route, route: POST /chat/completions, ${request}, upstream: [${answer}], expect: { reply: { status: 200 } } }`,
      ),
    )
    expect((await lines('a.test.yaml')).out.at(-1)).to.equal('3 passing')
  })

  it('takes the providers and models of the configuration where the fixture has none', async () => {
    const far =
      '{ name: far, type: native, base_url: "https://unreachable.invalid/v1", api_key: "${FAR_KEY}", endpoint_base_urls: { chat: "https://unreachable.invalid/v2" } }'
    await here.write('config/sluice.yaml', `providers: [${far}]\nmodels: [{ name: m, provider: far }]\n`)
    await here.write(
      'a.test.yaml',
      `pipeline: chat-completions\ntests:\n  - { name: far, request: { model: m, messages: [{ role: user, content: hi }] }, upstream: [${answer}], expect: { asked: [{ provider: far, headers: { authorization: Bearer fixture-secret } }], reply: { status: 200 } } }\n`,
    )
    expect((await lines('a.test.yaml')).out).to.deep.equal(['a.test.yaml', '  ✔ far', '', '1 passing'])
  })

  it('says what is wrong with a fixture, and runs the others', async () => {
    await here.write('a.test.yaml', 'pipeline: chat-completoins\ntests: [{ name: a, expect: { asked: [] } }]\n')
    await here.write('b.test.yaml', 'pipeline: generate\ntests: [{ name: a, expect: { asked: [] } }]\n')
    await here.write('c.test.yaml', 'pipeline: models\ntests: []\n')
    await here.write(
      'd.test.yaml',
      'pipeline: models\nmodels: [{ name: a, provider: b }]\ntests: [{ name: a, expect: { asked: [] } }]\n',
    )
    await here.write(
      'e.test.yaml',
      'pipeline: models\ntests: [{ name: lists, expect: { reply: { body: { data: [{ id: echo }] } } } }]\n',
    )
    const { status, out } = await lines('a.test.yaml', 'b.test.yaml', 'c.test.yaml', 'd.test.yaml', 'e.test.yaml')
    expect(status).to.equal(1)
    expect(out.filter((line) => line !== '' && !/^\w\.test\.yaml$/.test(line))).to.deep.equal([
      '  a.test.yaml:1:11: no pipeline named "chat-completoins"; did you mean "chat-completions"? [fixture]',
      '  b.test.yaml:1:11: "generate" has no route that a request could ask; try a pipeline that includes it [fixture]',
      '  c.test.yaml:2:8: must not be empty [minItems]',
      '  d.test.yaml:1:1: no provider named "b" [unknown-provider]',
      '  ✔ lists',
      '1 passing, 4 fixtures not run',
    ])
  })

  it('prints JSON', async () => {
    await here.write(
      'a.test.yaml',
      fixture(`{ name: wrong, ${request}, upstream: [${answer}], expect: { reply: { status: 201 } } }`),
    )
    const { status, out } = await lines('a.test.yaml', '--json')
    expect(status).to.equal(1)
    const [{ file, tests }] = JSON.parse(out.join('\n')) as [
      { file: string; tests: { name: string; differences: unknown }[] },
    ]
    expect(file).to.equal('a.test.yaml')
    expect(tests.map(({ name, differences }) => ({ name, differences }))).to.deep.equal([
      { name: 'wrong', differences: [{ path: 'reply.status', expected: 201, actual: 200 }] },
    ])
  })

  it('leaves nothing behind', async () => {
    const before = (await readdir(tmpdir())).filter((name) => name.startsWith('sluice-test-'))
    await here.write(
      'a.test.yaml',
      fixture(`{ name: a, ${request}, upstream: [${answer}], expect: { asked: [small-1] } }`),
    )
    await lines('a.test.yaml')
    const after = (await readdir(tmpdir())).filter((name) => name.startsWith('sluice-test-'))
    expect(after).to.deep.equal(before)
  })

  it('runs nothing while the configuration is wrong', async () => {
    await here.write('wrong.yaml', `${configuration}modles: 1\n`)
    const { status, out, error } = await here.run('test', '--config', 'wrong.yaml')
    expect(status).to.equal(1)
    expect(out).to.deep.equal([])
    expect(error).to.deep.equal([
      'wrong.yaml:4:1: unknown field "modles"; did you mean "models"? [additionalProperties]',
    ])
  })
})
