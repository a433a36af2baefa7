import { mock } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { expect } from 'chai'
import { pino } from 'pino'
import { GatewayError } from '../../../engine/index.ts'
import type { AnyStage, Scope } from '../../../engine/index.ts'
import type { Bag } from '../../../engine/pipeline/bag.ts'
import { execute } from '../../../engine/pipeline/run.ts'
import { runUnreached } from '../../../engine/pipeline/unreached.ts'
import { TestScope, compiled, stub } from './stubs.ts'

const reply = stub('reply', [], ['reply'])
const fails = stub('fails', [], [], () => () => {
  throw new GatewayError('invalid_value', { reason: 'it is wrong' })
})

describe('stages that were not reached', () => {
  let done: string[]
  beforeEach(() => (done = []))

  const shows = (name: string, missed: (slots: Bag, scope: Scope) => unknown = () => done.push(name)): AnyStage => ({
    ...stub(name, [], [], () => () => {
      done.push(`${name} ran`)
      return {}
    }),
    unreached: () => missed,
  })
  /** Runs stages until one fails, and then what was not reached. */
  const fail = async (stages: string, known: readonly AnyStage[], slots: Bag = {}, log = pino({ enabled: false })) => {
    const file = `name: p\nsummary: s.\nroutes: [GET /p]\npublic: true\nstages: ${stages}\n`
    const made = compiled({ 'p.yaml': file }, [reply, fails, ...known], true, log).get('p')!
    const scope = new TestScope()
    await execute(made, slots, scope).then(
      () => expect.fail('did not fail'),
      () => undefined,
    )
    const pending = runUnreached(made, slots, scope)
    return { scope, pending }
  }

  it('add to the answer, those alone that never ran', async () => {
    const { pending } = await fail(
      '[a, fails, b, reply, c]',
      ['a', 'b', 'c'].map((name) => shows(name)),
    )
    await pending
    expect(done).to.deep.equal(['a ran', 'b', 'c'])
  })

  it('include the arms of a switch, and no step of an attempt', async () => {
    const gives = stub('gives', [], ['candidates'], () => () => ({ candidates: [] }))
    const stages =
      '[fails, gives, { switch: [{ when: { candidates: true }, do: [a] }] }, { attempt: { do: [b] } }, reply]'
    const { pending } = await fail(stages, [gives, shows('a'), shows('b')])
    await pending
    expect(done).to.deep.equal(['a'])
  })

  it('get the slots that are set by then, and may add headers', async () => {
    const tells = shows('tells', async ({ principal }, scope) => {
      await Promise.resolve()
      scope.header('x-who', principal as never)
    })
    const auth = stub('auth', [], ['principal'])
    const { scope, pending } = await fail('[auth, fails, tells, reply]', [auth, tells])
    await pending
    expect(scope.headers).to.deep.equal({ 'x-who': "auth's principal" })
  })

  it('cost nothing where all were reached', async () => {
    const { pending } = await fail('[a, fails, reply]', [shows('a')])
    expect(pending).to.equal(undefined)
  })

  it('do not fail the answer: what they throw is logged, and one that hangs is not waited for', async () => {
    const logged: unknown[] = []
    const log = pino({ level: 'error' }, { write: (line: string) => void logged.push(JSON.parse(line)) })
    const throws = shows('throws', () => {
      throw new Error('no figures')
    })
    const hangs = shows('hangs', () => new Promise(() => undefined))
    mock.timers.enable({ apis: ['setTimeout'] })
    try {
      const { pending } = await fail('[fails, throws, hangs, reply]', [throws, hangs], {}, log)
      await turn()
      mock.timers.tick(5_000)
      await pending
    } finally {
      mock.timers.reset()
    }
    expect(logged).to.have.length(2)
    expect(logged.map((line) => (line as { readonly msg: string }).msg)).to.have.members([
      '"throws" could not add to the answer of a failed exchange',
      '"hangs" took too long; the error is answered without it',
    ])
  })
})
