import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import { WebSocket } from 'ws'
import { startFolder } from '../../support/folder.ts'
import type { FolderGateway } from '../../support/folder.ts'
import { tablesOf } from '../../support/tables.ts'

const here = import.meta.dirname
const password = 'correct horse battery'

interface Refused {
  readonly error: {
    readonly message: string
    readonly type: string
    readonly param: string | null
    readonly code: string
  }
  readonly errors?: readonly { readonly param: string | null; readonly code: string; readonly message: string }[]
}

describe('seams/input', () => {
  let gateway: FolderGateway
  before(async () => {
    const text = await readFile(join(here, 'pipelines', 'acme-members.yaml'), 'utf8')
    gateway = await startFolder(
      {
        plugins: [join(here, 'plugin.ts')],
        providers: [{ name: 'echo', type: 'echo' }],
        models: [{ name: 'echo', provider: 'echo' }],
      },
      { 'pipelines/acme-members.yaml': text },
    )
  })
  after(() => gateway.close())

  const send = (
    body: string | Uint8Array<ArrayBuffer> | undefined,
    headers: Record<string, string> = {},
    path = '/acme/members',
  ) =>
    fetch(gateway.url + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json', ...headers },
      ...(body === undefined ? {} : { body }),
    })
  const create = (body: unknown) => send(JSON.stringify(body))
  const refused = async (response: Response) => {
    const body = (await response.json()) as Refused
    return { status: response.status, ...body }
  }
  const mistakes = async (body: unknown) => {
    const { status, error, errors = [] } = await refused(await create(body))
    expect(status).to.equal(422)
    const { message, param, code } = error
    expect(errors[0]).to.deep.equal({ message, param, code })
    expect(error.type).to.equal('invalid_request_error')
    return errors.map((mistake) => `${mistake.code} ${mistake.param}: ${mistake.message}`)
  }

  it('has its defaults filled in', async () => {
    const answer = await create({ name: 'ann', password })
    expect(answer.status).to.equal(201)
    expect(await answer.json()).to.deep.equal({ name: 'ann', role: 'viewer', usd: 5, fallbacks: [], long: true })
    const whole = await create({
      name: 'bo',
      password,
      role: 'admin',
      budget: { usd: 0.5, period: null },
      fallbacks: ['x'],
    })
    expect(await whole.json()).to.deep.equal({ name: 'bo', role: 'admin', usd: 0.5, fallbacks: ['x'], long: true })
  })

  it('is told everything that is wrong at once, in the order of the body', async () => {
    expect(
      await mistakes({
        budget: { usdd: 3, usd: -1, period: 5 },
        nmae: 'x',
        fallbacks: ['a', 5, ''],
        role: 'admim',
        expires: 'x',
      }),
    ).to.deep.equal([
      'unknown_field budget.usdd: There is no field budget.usdd; did you mean "usd"?',
      'invalid_field budget.usd: budget.usd must be at least 0.',
      'invalid_field budget.period: budget.period must be a string or null.',
      'unknown_field nmae: There is no field nmae; did you mean "name"?',
      'invalid_field fallbacks[1]: fallbacks[1] must be a string.',
      'invalid_field fallbacks[2]: fallbacks[2] must not be empty.',
      'invalid_field role: role must be one of "viewer", "admin"; did you mean "admin"?',
      'invalid_field expires: expires must be an integer or must be null.',
      'missing_field name: name is missing.',
      'missing_field password: password is missing.',
    ])
    const many = Object.fromEntries(Array.from({ length: 200 }, (_, index) => [`field-${index}`, 1]))
    expect(await mistakes({ name: 'x', password, ...many })).to.have.length(50)
  })

  it('is not what a text could have meant', async () => {
    expect(await mistakes({ name: 'x', password, budget: { usd: '5' } })).to.deep.equal([
      'invalid_field budget.usd: budget.usd must be a number.',
    ])
    expect(await mistakes([])).to.deep.equal(['invalid_field null: The body must be an object.'])
    expect(await mistakes('text')).to.deep.equal(['invalid_field null: The body must be an object.'])
  })

  it('lets nobody else see it, and leaves no word of it behind', async () => {
    await create({ name: 'carl', password })
    await mistakes({ name: 'dora', password: password.slice(0, 11) })
    await gateway.engine.flush()
    const rows = await tablesOf(gateway.engine.database).selectFrom('requests').selectAll().execute()
    const served = rows.filter(({ type, status }) => type === 'members' && status === 201)
    const { seen } = JSON.parse(served[0]?.metadata ?? '{}') as { seen: string[] }
    expect(seen).to.deep.equal(['acme.member', 'ingress', 'outcome', 'principal', 'reply'])
    expect(JSON.stringify(rows)).to.not.include('horse')
    expect(gateway.lines.join('\n')).to.not.include('horse')
  })

  it('is JSON and nothing else: a page of another site cannot send it', async () => {
    const text = JSON.stringify({ name: 'eve', password })
    for (const type of [
      'text/plain',
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
      'text/json',
    ])
      expect(await refused(await send(text, { 'content-type': type }))).to.deep.include({ status: 415 })
    const untyped = await fetch(`${gateway.url}/acme/members`, {
      method: 'POST',
      headers: { authorization: `Bearer ${gateway.key}` },
      body: new Uint8Array(Buffer.from(text)),
    })
    expect(untyped.status).to.equal(415)
    expect((await send(text, { 'content-type': 'Application/JSON; charset=utf-8' })).status).to.equal(201)
  })

  it('is not there: what must be said is missing', async () => {
    const { status, errors } = await refused(await send(undefined))
    expect(status).to.equal(422)
    expect(errors?.map(({ param }) => param)).to.deep.equal(['name', 'password'])
  })

  it('is read by everybody in the same way', async () => {
    const texts: Record<string, string | Uint8Array<ArrayBuffer>> = {
      'a key that is there twice': '{"name":"x","password":"1234567890123","name":"y"}',
      'one further inside': `{"name":"x","password":"${password}","budget":{"usd":1,"\\u0075sd":2}}`,
      'no JSON': '{"name":',
      'no UTF-8': new Uint8Array([0x22, 0xff, 0x22]),
      'too deep': `${'['.repeat(33)}${']'.repeat(33)}`,
    }
    for (const [what, text] of Object.entries(texts)) {
      const { status, error } = await refused(await send(text))
      expect({ what, status, code: error.code }).to.deep.equal({ what, status: 400, code: 'invalid_json' })
    }
    const large = await refused(await send(JSON.stringify({ name: 'x'.repeat(1024 * 1024) })))
    expect(large).to.deep.include({ status: 413 })
    expect(large.error.code).to.equal('request_too_large')
  })

  it('is asked for after it is known who asks', async () => {
    const response = await send('no JSON', { authorization: 'Bearer nobody', 'content-type': 'text/plain' })
    expect(response.status).to.equal(401)
  })

  it('may depend on the configuration, and come as a message', async () => {
    const answer = await send('{"remark":"well"}', {}, '/acme/notes')
    expect(await answer.json()).to.deep.equal({ noted: 'well' })
    const wrong = await refused(await send('{"text":"well"}', {}, '/acme/notes'))
    expect(wrong.errors?.map(({ code, param }) => `${code} ${param}`)).to.deep.equal([
      'unknown_field text',
      'missing_field remark',
    ])
    const socket = new WebSocket(`${gateway.url.replace('http', 'ws')}/acme/notes`)
    const next = () =>
      new Promise((resolve) => socket.once('message', (data: Buffer) => resolve(JSON.parse(data.toString()))))
    await new Promise((resolve) => socket.once('open', resolve))
    socket.send('{"remark":"again"}')
    expect(await next()).to.deep.equal({ noted: 'again' })
    socket.send('{"remark":5}')
    expect(await next()).to.have.nested.property('error.param', 'remark')
    socket.close()
  })
})
