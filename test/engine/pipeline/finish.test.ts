import { expect } from 'chai'
import { pino } from 'pino'
import { GatewayError } from '../../../engine/index.ts'
import type { AnyStage, SlotName } from '../../../engine/index.ts'
import { finish } from '../../../engine/pipeline/finish.ts'
import { TestScope, compiled, stub } from './stubs.ts'

const bill = 'acme.bill' as SlotName
const lines: Record<string, unknown>[] = []
const log = pino({ base: null }, { write: (line) => void lines.push(JSON.parse(line)) })

describe('what runs after an exchange', () => {
  let done: string[]
  beforeEach(() => {
    done = []
    lines.length = 0
  })
  const notes = (name: string, needs: SlotName[] = [], provides: SlotName[] = []) =>
    stub(name, needs, provides, () => async () => {
      await Promise.resolve()
      done.push(name)
      return Object.fromEntries(provides.map((slot) => [slot, name]))
    })
  const breaks = (provides: SlotName[] = []) =>
    stub('breaks', [], provides, () => () => {
      throw new GatewayError('store_unavailable')
    })
  const run = (after: string, known: readonly AnyStage[], included = '') => {
    const text = `name: p\nsummary: s.\nroutes: [GET /p]\npublic: true\nstages: [reply]\nfinally: ${after}\n`
    const files = { 'p.yaml': text, ...(included ? { 'q.yaml': `name: q\nsummary: s.\nstages: ${included}\n` } : {}) }
    const made = compiled(files, [stub('reply', [], ['reply']), ...known], true, log).get('p')!
    return finish(made, { outcome: 'done' as never }, new TestScope())
  }

  it('runs each stage even when another fails, in an arm of a switch and in an include, too', async () => {
    const known = [notes('a'), notes('b'), notes('c'), breaks()]
    const arm = '[switch: [{ do: [a, breaks, b] }], use: q, c]'
    const failures = await run(arm, known, '[a, breaks, b]')
    expect(done).to.deep.equal(['a', 'b', 'a', 'b', 'c'])
    expect(failures.map(({ code }) => code)).to.deep.equal(['store_unavailable', 'store_unavailable'])
    expect(lines.map(({ at }) => at)).to.deep.equal(['p.yaml:6:30 (breaks)', 'q.yaml:3:13 (breaks)'])
  })

  it('passes a stage over that needs what a failed one should have given, and tells it', async () => {
    const known = [breaks([bill]), notes('writes', [bill]), notes('log')]
    for (const after of ['[breaks, writes, log]', '[switch: [{ do: [breaks, writes, log] }]]']) {
      done = []
      lines.length = 0
      const failures = await run(after, known)
      expect(done).to.deep.equal(['log'])
      expect(failures).to.have.length(1)
      expect(lines[1]).to.include({
        msg: 'a stage after the exchange is skipped: the stage that gives it "acme.bill" has failed',
        id: 'exchange',
      })
      expect(lines[1]?.['at']).to.match(/^p\.yaml:6:\d+ \(writes\)$/)
      expect(lines).to.have.length(2)
    }
  })

  it('lets a stage have what another one gave', async () => {
    await run('[price, writes]', [notes('price', [], [bill]), notes('writes', [bill])])
    expect(done).to.deep.equal(['price', 'writes'])
    expect(lines).to.deep.equal([])
  })

  it('a try of an attempt ends with the first stage that fails', async () => {
    const candidates = stub('offer', [], ['candidates'], () => () => ({
      candidates: [{ model: { name: 'm' }, provider: { name: 'p' } }],
    }))
    const known = [candidates, breaks(), notes('never')]
    const failures = await run('[offer, attempt: { do: [breaks, never] }]', known)
    expect(done).to.deep.equal([])
    expect(failures.map(({ code }) => code)).to.deep.equal(['store_unavailable'])
  })
})
