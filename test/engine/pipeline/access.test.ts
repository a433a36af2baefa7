import { expect } from 'chai'
import { asksFirst } from '../../../engine/pipeline/access.ts'
import type { StepNode } from '../../../engine/pipeline/nodes.ts'
import type { Bag } from '../../../engine/pipeline/bag.ts'
import { TestScope, compiled, stub } from './stubs.ts'

const stages = [
  stub('auth', ['ingress'], ['principal']),
  stub('read', ['ingress'], ['request']),
  stub('reply', [], ['reply']),
]

/** What the access steps of a pipeline provide. */
async function provided(text: string, more: Record<string, string> = {}): Promise<Bag> {
  const pipeline = compiled({ 'p.yaml': `name: p\nsummary: s.\nroutes: [GET /p]\n${text}\n`, ...more }, stages).get('p')
  const slots = { ingress: { transport: 'ws' } } as unknown as Bag
  await pipeline?.access(slots, new TestScope())
  return slots
}

describe('the access steps of a pipeline', () => {
  const asked = { ingress: { transport: 'ws' }, principal: "auth's principal" }

  it('end with the stage that finds out who asks', async () => {
    expect(await provided('stages: [auth, read, reply]')).to.deep.equal(asked)
  })

  it('are found in an include, without what follows there', async () => {
    const entry = 'name: entry\nsummary: s.\ninputs: [ingress]\nstages: [auth, read]\n'
    expect(await provided('stages: [use: entry, reply]', { 'entry.yaml': entry })).to.deep.equal(asked)
  })

  it('are a switch as a whole, behind one that may do nothing', async () => {
    const nothing = 'switch: [{ when: { ingress.transport: http }, do: [auth] }]'
    const arms = 'switch: [{ when: { ingress.transport: ws }, do: [auth] }, { do: [auth, read] }]'
    expect(await provided(`stages: [${nothing}, ${arms}, read, reply]`)).to.deep.equal(asked)
  })

  it('are an attempt only where both of its ways ask first', () => {
    const auth = [{ kind: 'stage', stage: stages[0] }]
    const read = [{ kind: 'stage', stage: stages[1] }]
    const attempts = [{ steps: auth }, { steps: auth, otherwise: auth }, { steps: auth, otherwise: read }]
    const asking = [...attempts, { steps: auth, otherwise: [] }, { steps: read, otherwise: auth }].map((attempt) =>
      asksFirst([{ kind: 'attempt', ...attempt } as unknown as StepNode], new Map()),
    )
    expect(asking).to.deep.equal([true, true, false, false, false])
  })

  it('are none where nobody is asked', async () => {
    expect(await provided('public: true\nstages: [read, reply]')).to.deep.equal({ ingress: { transport: 'ws' } })
  })

  it('are built once', () => {
    let built = 0
    const counted = stub('auth', ['ingress'], ['principal'], () => {
      built++
      return () => ({ principal: 'me' })
    })
    compiled({ 'p.yaml': 'name: p\nsummary: s.\nroutes: [GET /p]\nstages: [auth, reply]\n' }, [
      counted,
      ...stages.slice(1),
    ])
    expect(built).to.equal(1)
  })
})
