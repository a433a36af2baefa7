import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect } from 'chai'
import type { JsonObject } from '../../../engine/index.ts'
import { pool } from './rig.ts'

const run = promisify(execFile)
const sluice = join(import.meta.dirname, '..', '..', '..', 'engine', 'bin', 'sluice.cjs')

describe('sluice route', function () {
  this.timeout(600_000)
  const folder = mkdtempSync(join(tmpdir(), 'sluice-route-'))
  const file = (name: string, text: string) => {
    writeFileSync(join(folder, name), text)
    return name
  }
  before(() => {
    const configuration = {
      database: { url: `sqlite:${join(folder, 'sluice.db')}` },
      providers: [{ name: 'far', type: 'compatible', base_url: 'http://127.0.0.1:9' }],
      models: pool,
      api_keys: [{ name: 'narrow', key: 'sk-narrow-0123456789', models: ['large'] }],
      server_config: { smart_routing: { enabled: true, exploration: { enabled: false } } },
    }
    file('sluice.yaml', JSON.stringify(configuration))
  })
  after(() => rmSync(folder, { recursive: true }))

  const route = async (...words: string[]) => {
    const command = [sluice, 'route', ...words, '--config', join(folder, 'sluice.yaml')]
    return run(process.execPath, command, { cwd: folder }).then(
      ({ stdout }) => ({ code: 0, out: stdout.trim(), error: '' }),
      ({ code, stdout, stderr }: { code: number; stdout: string; stderr: string }) => ({
        code,
        out: stdout.trim(),
        error: stderr,
      }),
    )
  }
  const json = ({ out }: { readonly out: string }) => JSON.parse(out) as JsonObject

  it('prints what the preview answers, for a prompt and for the body of a request', async () => {
    const shown = json(await route('How many legs has a spider?', '--model', 'best', '--json'))
    expect(shown).to.include({ mode: 'best', error: null })
    expect(Object.keys(shown)).to.include.members(['votes', 'facts', 'gates', 'floors', 'judge', 'candidates'])
    const image_url = { url: 'data:image/png;base64,iVBORw0KGgo=' }
    const body = { model: 'fast', messages: [{ role: 'user', content: [{ type: 'image_url', image_url }] }] }
    const pictured = json(await route('--file', file('body.json', JSON.stringify(body)), '--json'))
    expect(pictured).to.include({ mode: 'fast', chosen: 'large' })
  })

  it('keeps to the models of a key', async () => {
    expect(json(await route('Hello', '--key', 'narrow', '--json'))).to.include({ mode: 'auto', chosen: 'large' })
  })

  it('is read by people, too', async () => {
    const { out, code } = await route('Hello', '--key', 'narrow')
    expect(code).to.equal(0)
    expect(out).to.match(/model +large[^]*tier +[A-Z]+, complexity [\d.]+, benefit [\d.]+,[^]*candidates[^]*allowlist/)
  })

  it('prints a line for each line', async () => {
    const lines = [
      { id: 'a', prompt: 'Hello' },
      { id: 2, request: { messages: [{ role: 'user', content: 'Hello' }], model: 'best' } },
      'Hello',
      { messages: [{ role: 'user', content: 'Hello' }] },
    ]
    const good = await route('--jsonl', file('in.jsonl', lines.map((one) => JSON.stringify(one)).join('\n')), '--json')
    const shown = good.out.split('\n').map((line) => JSON.parse(line) as JsonObject)
    expect(shown.map(({ id, mode }) => [id, mode])).to.deep.equal([
      ['a', 'auto'],
      [2, 'best'],
      [undefined, 'auto'],
      [undefined, 'auto'],
    ])
    expect(good.code).to.equal(0)
    const bad = await route('--jsonl', file('bad.jsonl', 'nonsense\n{"messages":[]}\n{"prompt":"Hello"}\n'), '--json')
    expect(bad.code).to.equal(1)
    const errors = bad.out.split('\n').map((line) => (JSON.parse(line) as { error: JsonObject | null }).error?.['code'])
    expect(errors).to.deep.equal(['invalid_json', 'invalid_value', undefined])
  })

  it('says what is wrong', async () => {
    const [pinned, nothing, both, key, gone, past] = await Promise.all([
      route('Hello', '--model', 'large'),
      route(),
      route('Hello', '--file', 'body.json'),
      route('Hello', '--key', 'nobody'),
      route('--jsonl', 'gone.jsonl'),
      route('--replay', 'unknown'),
    ])
    expect([pinned.code, pinned.error]).to.deep.equal([1, 'sluice: model must be fast, auto or best.\n'])
    for (const { code, error } of [nothing, both])
      expect([code, error.split('\n')[0]]).to.deep.equal([
        2,
        'sluice: say one of a prompt, --file, --jsonl, --replay and --evaluate',
      ])
    expect([key.code, key.error.split('\n')[0]]).to.deep.equal([2, 'sluice: there is no API key "nobody"'])
    expect(gone.code).to.equal(2)
    expect([past.code, past.error]).to.deep.equal([1, 'sluice: there is no routed request "unknown" in the log\n'])
  })
})
