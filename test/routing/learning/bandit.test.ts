import { expect } from 'chai'
import { Windows } from '../../../plugins/experience/windows.ts'
import { Random } from '../../../plugins/routing/random.ts'
import { needOf, priorMean, ranked } from '../../../plugins/routing/score.ts'
import type { Tier } from '../../../engine/index.ts'
import { change, costWeight, delay, isThere, length, models, noise, qualityAt, rated, tiers } from './worlds.ts'
import type { World } from './worlds.ts'

const seeds = 40
const strength = 5
/** Share of quality with which cost counts `costWeight` as much as quality. */
const share = 1 / (1 + costWeight)

interface Run {
  /** Sum of what the choices lost against the best ones. */
  regret: number
  /** The same for the 1,000 requests after the change. */
  after: number
  /** Choices of the second model among the first 300 requests after the change for which it is the best one. */
  newcomer: number
}

/** Plays a world with the gateway's own selection and windows. */
function play(world: World, seed: number): Run {
  const random = noise(seed)
  const windows = new Windows()
  const pending: { readonly at: number; readonly tier: Tier; readonly model: string; readonly good: boolean }[] = []
  const run: Run = { regret: 0, after: 0, newcomer: 0 }
  let eligible = 0
  for (let time = 0; time < length; time++) {
    for (; pending[0] && pending[0].at <= time; pending.shift()) {
      const [{ tier, model, good }] = pending as [(typeof pending)[0]]
      const row = {
        decision: `${time} ${pending.length}`,
        source: 'explicit',
        at: time,
        key_id: 'key',
        weight: 1,
        conversation: null,
        turn: null,
        ask: null,
      }
      windows.add({ ...row, model, mode: 'auto', tier, reward: Number(good) })
    }
    const index = tierIndex(random())
    const chosen = choose(world, index, time, { windows, seed })
    const utility = models.map(({ cost }, model) =>
      isThere(world, model, time) ? qualityAt(world, index, model, time) - costWeight * cost : -Infinity,
    )
    const best = Math.max(...utility)
    const loss = best - (utility[chosen] ?? 0)
    run.regret += loss
    if (time >= change && time < change + 1000) run.after += loss
    if (time >= change && utility[1] === best && eligible++ < 300) run.newcomer += Number(chosen === 1)
    const { tier = 'SIMPLE' } = tiers[index] ?? {}
    if (random() >= rated) continue
    const good = random() < qualityAt(world, index, chosen, time)
    const at = time + 1 + Math.floor(-Math.log(1 - random()) * delay)
    const after = pending.findIndex((one) => one.at > at)
    pending.splice(after < 0 ? pending.length : after, 0, { at, tier, model: models[chosen]?.name ?? '', good })
  }
  return run
}

function choose(
  world: World,
  index: number,
  time: number,
  { windows, seed }: { readonly windows: Windows; readonly seed: number },
): number {
  const { tier = 'SIMPLE', complexity = 0 } = tiers[index] ?? {}
  const arms = models.flatMap(({ name, level, cost }, model) => {
    if (!isThere(world, model, time)) return []
    const mean = priorMean(needOf(complexity, 'auto'), level)
    const place = { model: name, mode: 'auto', tier } as const
    const { successes, failures } = windows.evidence(place, { window: 100, strength, implicit: true })
    const [a, b] = [strength * mean + successes, strength * (1 - mean) + failures]
    // Six doublings are the whole scale of costs.
    return [{ model: name, level, cost: 0.001 * 2 ** (6 * cost), a, b, reliability: 1, firstByte: null, bonus: 0 }]
  })
  const weight = (share - 0.8 * complexity) / (1 - 0.8 * complexity)
  const random = new Random(`${world} ${seed} ${time}`)
  const [first] = ranked(arms, { mode: 'auto', benefit: complexity, weight, gate: 0.6, random })
  return models.findIndex(({ name }) => name === first?.model)
}

function tierIndex(drawn: number): number {
  if (drawn < 0.55) return 0
  return drawn < 0.85 ? 1 : 2
}

describe('the selection and its windows, in worlds that are known', () => {
  /** Means of 40 runs; regret per 1,000 requests, or per request after the change. */
  const playAll = (world: World): Run => {
    const runs = Array.from({ length: seeds }, (_, seed) => play(world, 1000 + seed))
    const mean = (figure: (run: Run) => number) => runs.reduce((sum, run) => sum + figure(run), 0) / seeds
    const means = {
      regret: mean(({ regret }) => regret / (length / 1000)),
      after: mean(({ after }) => after / 1000),
      newcomer: mean(({ newcomer }) => newcomer / 300),
    }
    if (process.env['SHOW_FIGURES']) console.log(`      ${world}: ${JSON.stringify(means)}`)
    return means
  }

  it('lose at most 14 of 1,000 where nothing changes', () => {
    expect(playAll('stationary').regret).to.be.at.most(14)
  })

  it('lose at most 24 of 1,000 where a model becomes much worse, and little right after it', () => {
    const { regret, after } = playAll('abrupt')
    expect(regret).to.be.at.most(24)
    expect(after).to.be.at.most(0.07)
  })

  it('lose at most 55 of 1,000 where all models change slowly', () => {
    expect(playAll('smooth').regret).to.be.at.most(55)
  })

  it('lose at most 13 of 1,000 where a model is new, which soon has its share', () => {
    const { regret, newcomer } = playAll('new')
    expect(regret).to.be.at.most(13)
    expect(newcomer).to.be.at.least(0.2)
  })
})
