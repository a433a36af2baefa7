import { expect } from 'chai'
import type { JsonObject, Vote } from '../../../engine/index.ts'
import metadata from '../../../plugins/classification/metadata.ts'
import { classifying, said } from './rig.ts'
import type { Rig } from './rig.ts'

const call = (name: string, input: object, id = name) => ({
  role: 'assistant',
  content: null,
  tool_calls: [{ id, type: 'function', function: { name, arguments: JSON.stringify(input) } }],
})
const result = (content: string, id: string) => ({ role: 'tool', tool_call_id: id, content })

describe('routing/classification: metadata', () => {
  let rig: Rig
  before(async () => {
    rig = await classifying('{ signals: { metadata: 1 }, deadline: 10s }')
  })
  after(() => rig.close())

  /** The facts and the vote of a request. */
  const judged = async (body: object) => {
    const { facts, votes } = await rig.classify(body)
    return { facts, vote: votes['metadata'] as Vote & { readonly abstained?: true } }
  }
  const steps = (...items: readonly object[]) => judged({ messages: [...said('Fix the cart.').messages, ...items] })

  it('has no vote on a bare prompt, on the presence of tools, or on a history', async () => {
    const tools = [{ type: 'function', function: { name: 'run', parameters: { type: 'object', properties: {} } } }]
    for (const body of [said('Fix it.'), { ...said('Fix it.'), tools }, said('Fix it.', 'Done.', 'Fix the other.')])
      expect((await judged(body)).vote).to.deep.equal({ abstained: true, reasons: [] })
  })

  it('holds failures and repetitions for hard, and reading for easy', async () => {
    const failing = await steps(
      call('run', { command: 'npm test' }, 'a'),
      result('exit code 1', 'a'),
      call('run', { command: 'npm test' }, 'b'),
      result('Traceback (most recent call last)', 'b'),
    )
    expect(failing.facts).to.deep.include({
      turn: 1,
      first: false,
      step: 2,
      results_ok: 0,
      results_failed: 2,
      last_error: 2,
      repeats: 1,
      verifies: true,
      routine: false,
    })
    expect(failing.vote.reasons).to.deep.equal(['failures', 'last_error', 'repeats'])
    expect(failing.vote.complexity).to.be.above(0.8)
    const reading = await steps(call('read_file', { path: 'a' }), result('let total = 0', 'read_file'))
    expect(reading.facts).to.deep.include({ reads: 1, writes: 0, results_ok: 1, last_error: 0, routine: true })
    expect(reading.vote.reasons).to.deep.equal(['reads'])
    expect(reading.vote.complexity).to.be.below(0.5)
    const denied = await steps(call('editFile', { path: 'a' }), result('EACCES: permission denied', 'editFile'))
    expect(denied.facts).to.deep.include({ writes: 1, last_error: 3 })
  })

  it('follows what is asked for explicitly', async () => {
    for (const [wish, reason, harder] of [
      [{ reasoning_effort: 'high' }, 'effort', true],
      [{ reasoning_effort: 'minimal' }, 'effort', false],
      [{ max_tokens: 5 }, 'max_output', false],
    ] as const) {
      const { vote } = await judged({ ...said('Fix it.'), ...wish })
      expect(vote.reasons).to.deep.equal([reason])
      expect(vote.complexity > 0.5).to.equal(harder)
    }
    const deep = (depth: number): JsonObject =>
      depth === 0 ? { type: 'string' } : { type: 'object', properties: { inner: deep(depth - 1) } }
    const schema = { type: 'json_schema', json_schema: { name: 's', schema: deep(4) } }
    const { facts, vote } = await judged({ ...said('Fix it.'), response_format: schema })
    expect(facts).to.deep.include({ schema_depth: 4, schema_fields: 4 })
    expect(vote.reasons).to.deep.equal(['schema'])
  })

  it('keeps the tier of a conversation that goes on, and trusts it less with every turn', () => {
    const after = (age: number) =>
      metadata({ text: '', facts: { refers_back: true, previous: { complexity: 0.8, age } } })
    expect(after(1)).to.deep.equal({ complexity: 0.8, confidence: 0.9 * 0.7, reasons: ['refers_back'] })
    const previous = { complexity: 0.8, benefit: 0.3, age: 1 }
    expect(metadata({ text: '', facts: { refers_back: true, previous } })).to.include({ complexity: 0.8, benefit: 0.3 })
    expect(after(3).confidence).to.be.closeTo(0.9 * 0.7 ** 3, 1e-12)
  })

  it('puts no name, argument or text into the facts', async () => {
    const { facts } = await steps(call('read_secret_file', { path: 'canary' }), result('canary', 'read_secret_file'))
    expect(JSON.stringify(facts)).not.to.match(/secret|canary|cart/)
  })
})
