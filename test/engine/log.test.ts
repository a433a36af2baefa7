import { expect } from 'chai'
import { makeLog, setLevel } from '../../engine/telling/log.ts'
import { HIDDEN, Secrets } from '../../engine/secrets/redaction.ts'

const KNOWN = 'Qx7canary+provider/key=9f'
const UNKNOWN = 'sk-canary-9f8e7d6c5b4a'

function logged(write: (log: ReturnType<typeof makeLog>) => void): string {
  const lines: string[] = []
  const secrets = new Secrets()
  secrets.protect(KNOWN)
  write(makeLog({ level: 'debug', secrets, destination: { write: (line: string) => void lines.push(line) } }))
  expect(lines).to.have.length(1)
  return lines[0] ?? ''
}

describe('engine/log', () => {
  it('writes one JSON object per line', () => {
    const line = logged((log) => log.child({ stage: 'call' }).info({ id: 'x' }, 'hello\nworld'))
    const { time, ...rest } = JSON.parse(line) as Record<string, unknown>
    expect(rest).to.deep.equal({ level: 'info', pid: process.pid, stage: 'call', id: 'x', msg: 'hello\nworld' })
    expect(time).to.match(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    expect(line.indexOf('\n')).to.equal(line.length - 1)
  })

  it('takes another level, and so does every log that was made of it', () => {
    const lines: string[] = []
    const log = makeLog({ level: 'info', destination: { write: (line: string) => void lines.push(line) } })
    const child = log.child({ stage: 'call' })
    const inner = child.child({ service: 'budgets' })
    const say = (word: string) => [log, child, inner].forEach((one) => one.debug(word))
    say('hidden')
    setLevel(log, 'debug')
    say('shown')
    setLevel(log, 'warn')
    say('hidden')
    expect(lines.map((line) => (JSON.parse(line) as { msg: string }).msg)).to.deep.equal(['shown', 'shown', 'shown'])
  })

  it('writes nothing below its level', () => {
    const lines: string[] = []
    makeLog({ level: 'warn', destination: { write: (line: string) => void lines.push(line) } }).info('x')
    expect(lines).to.deep.equal([])
  })

  it('writes text for a person at a terminal', () => {
    const lines: string[] = []
    const secrets = new Secrets()
    secrets.protect(KNOWN)
    const log = makeLog({ level: 'info', secrets, text: true, destination: { write: (line) => void lines.push(line) } })
    log.error('config/sluice.yaml:1:1: unknown field "listn"; did you mean "listen"? [additionalProperties]')
    log.info({ version: 'abc', key: KNOWN }, 'the configuration is live')
    log.warn({ err: Object.assign(new Error('no'), { stack: 'Error: no\n    at here' }) }, 'it \u001b[2J failed')
    // oxlint-disable-next-line no-control-regex
    expect(lines.map((line) => line.replaceAll(/\u001b\[\d+m/g, ''))).to.deep.equal([
      'config/sluice.yaml:1:1: unknown field "listn"; did you mean "listen"? [additionalProperties]\n',
      `the configuration is live version="abc" key="${HIDDEN}"\n`,
      'it ?[2J failed: Error: no\n    at here\n',
    ])
  })

  for (const [name, canary] of [
    ['registered', KNOWN],
    ['unregistered', UNKNOWN],
  ] as const) {
    const error = new Error(`refused the key ${canary}`, { cause: new Error(`inner ${canary}`) })
    const shapes: Readonly<Record<string, (log: ReturnType<typeof makeLog>) => void>> = {
      'a field': (log) => log.info({ headers: { authorization: canary } }),
      'a header in another case': (log) =>
        log.info({ headers: { 'X-API-KEY': canary, AUTHORIZATION: `Bearer ${canary}` } }),
      'an error': (log) => log.error({ err: Object.assign(error, { config: { apiKey: canary } }) }, 'failed'),
      'a URL': (log) => log.info({ url: `https://host/v1?x=1&key=${encodeURIComponent(canary)}` }),
      'a deeper level': (log) => log.info({ a: { b: [{ c: { d: { token: canary } } }] } }),
      'the message': (log) => log.info('calling with %s and more', canary),
      'a JSON string': (log) => log.info({ body: JSON.stringify({ headers: { 'x-api-key': canary } }) }),
      'the fields of a child': (log) => log.child({ cookie: canary, note: canary }).info('x'),
      'the name of a field': (log) => log.info({ seen: { [canary]: 1 } }),
    }
    for (const [shape, write] of Object.entries(shapes)) {
      it(`hides a ${name} secret in ${shape}`, () => {
        const line = logged(write)
        expect(line).to.include(HIDDEN)
        for (const text of [line, decodeURIComponent(line)]) {
          for (let at = 0; at + 12 <= canary.length; at += 1) expect(text).not.to.include(canary.slice(at, at + 12))
        }
        expect(JSON.parse(line)).to.have.property('level')
      })
    }
  }
})
