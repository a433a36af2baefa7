import { channel, subscribe, unsubscribe } from 'node:diagnostics_channel'
import { expect } from 'chai'
import type { RunScope, Step } from '../../../engine/pipeline/step.ts'
import { toldStage, toldTry } from '../../../engine/pipeline/interpret.ts'
import { GatewayError } from '../../../engine/spec/error.ts'
import type { ToldStage } from '../../../engine/spec/telling.ts'
import { TestScope } from './stubs.ts'

const place = { pipeline: 'p', stage: 's', at: 'p.yaml:1:1' }

/** Slots and a scope that nobody may look at. */
const untouched = new Proxy({}, { get: () => expect.fail('somebody looks') })

describe('what is told of steps', () => {
  it('costs one look at the channels while nobody listens', () => {
    expect(channel('sluice:stage:end').hasSubscribers).to.equal(false)
    const answer = Promise.resolve()
    const seen: unknown[] = []
    const step: Step = (...given) => {
      seen.push(...given)
      return answer
    }
    for (const told of [toldStage(step, place), toldTry(step, place)]) {
      // The very promise of the step, and no other one.
      expect(told(untouched, untouched as RunScope)).to.equal(answer)
      expect(seen.splice(0)).to.deep.equal([untouched, untouched])
    }
  })

  it('is heard by whoever begins to listen later, and by nobody who has stopped', async () => {
    const ends: ToldStage[] = []
    const listen = (message: unknown) => void ends.push(message as ToldStage)
    const failure = new GatewayError('upstream_timeout', { model: 'm' }, { tags: ['timeout'] })
    failure.at = 'p.yaml:1:1 (s)'
    const steps: readonly (readonly [Step, object | undefined])[] = [
      [() => undefined, undefined],
      [() => Promise.resolve(), undefined],
      [() => Promise.reject(failure), { code: 'upstream_timeout', tags: ['timeout'], at: 'p.yaml:1:1 (s)' }],
      [
        () => {
          throw new Error('a prompt')
        },
        { code: 'internal_error', tags: [] },
      ],
    ]
    const told = steps.map(([step, error]) => [toldStage(step, place), error] as const)
    subscribe('sluice:stage:end', listen)
    try {
      for (const [step, error] of told) {
        const thrown = await Promise.try(async () => step({}, new TestScope())).catch((caught: unknown) => caught)
        expect(thrown === undefined).to.equal(error === undefined)
        const [end, ...others] = ends.splice(0)
        expect(others).to.deep.equal([])
        expect(end).to.deep.include({ exchange: 'exchange', attempt: 1, ...place })
        expect(end?.error).to.deep.equal(error)
      }
    } finally {
      unsubscribe('sluice:stage:end', listen)
    }
    void told[0]?.[0]({}, new TestScope())
    expect(ends).to.deep.equal([])
  })
})
