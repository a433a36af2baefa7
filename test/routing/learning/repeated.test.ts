import { mock } from 'node:test'
import { expect } from 'chai'
import type { ModelRecord, Services } from '../../../engine/index.ts'
import { tierOf } from '../../../engine/kit.ts'
import { Lessons } from '../../../plugins/experience/lessons.ts'
import { decide } from '../../../plugins/routing/decide.ts'
import { viewOf } from '../../support/admin.ts'
import { startGateway } from '../../support/gateway.ts'
import type { RunningGateway } from '../../support/gateway.ts'
import { threeModels } from '../core/rig.ts'
import { noise, tiers } from './worlds.ts'

/** A request, and what becomes of it, whatever model serves it. */
interface Request {
  readonly id: string
  readonly key: string
  readonly conversation: string
  readonly ask: string
  readonly turn: number
  readonly isFollowed: boolean
  readonly complexity: number
  readonly output: number
  readonly isAnswered: boolean
}

const hour = 3_600_000
/** Milliseconds between two requests of those who work, and how many of these there are. */
const between = 10_000
const count = 3_000
const repeats = 1_000
const users = 5
/** User turns of a conversation. */
const turns = 4

/** Conversations of several keys. Some asks are repeated, because the answer before was not good enough. */
function work(seed: number): readonly Request[] {
  const random = noise(seed)
  const asked = new Map<string, string>()
  return Array.from({ length: count }, (_, at): Request => {
    const user = at % users
    const round = Math.floor(at / users)
    const conversation = `${user} ${Math.floor(round / turns)}`
    const isRepeated = random() < 0.3
    const ask = (isRepeated ? asked.get(conversation) : undefined) ?? `ask ${at}`
    asked.set(conversation, ask)
    return {
      id: `request ${at}`,
      key: `key ${user}`,
      conversation,
      ask,
      turn: 1 + (round % turns),
      isFollowed: true,
      complexity: tiers[Math.floor(3 * random())]?.complexity ?? 0,
      output: 50 + Math.floor(random() * 800),
      isAnswered: random() < 0.97,
    }
  })
}

/** What a key sends beside the others: by default one prompt, again and again, whose answers are very long. */
type Beside = (at: number) => Partial<Request>

interface Disturbed {
  readonly beside: Beside
  /** What serves those who work, as without the other key. So one choice that it moves does not move all that follow. */
  readonly served: readonly string[]
}

/** The choices for those who work, where another key may send requests among theirs. */
function choices(gateway: RunningGateway, requests: readonly Request[], disturbed?: Disturbed): readonly string[] {
  const { settings, models } = viewOf(gateway.engine, 'smart_routing')
  // The gateway's own learning, without its table.
  const lessons = new Lessons({ append: () => undefined } as unknown as ConstructorParameters<typeof Lessons>[0])
  const experience = {
    posterior: (place, prior) => lessons.posterior(place, prior),
    outcomes: (model, tier, of) => lessons.measurements[of](model, tier),
    spent: { routed: 0, extra: 0 },
  } satisfies Pick<Services['experience'], 'posterior' | 'outcomes' | 'spent'>
  const serve = (request: Request, served?: string) => {
    const { id, key, conversation, complexity, turn } = request
    const place = { mode: 'auto', tier: tierOf(complexity) } as const
    const difficulty = { complexity, benefit: complexity, tier: place.tier }
    const entries = models.map((model: ModelRecord) => ({ model, candidates: [], isBroken: false, cost: null }))
    const shortlist = { entries, notes: [], incumbent: undefined, input: 500, maxOutput: undefined }
    const { order } = decide({ id, ...place, difficulty, step: 0, shortlist, settings, experience })
    const chosen = order[0].model
    const model = served ?? chosen
    const { isAnswered, output, ask, isFollowed } = request
    const at = Date.now()
    const input = { estimated: 500, counted: 500 + (output % 90), cacheRead: 0, cacheWrite: 0 }
    lessons.see({
      from: { key, conversation },
      tries: [{ model, isAnswered }],
      ...(isAnswered && { answer: { model, tier: place.tier, firstByte: 100 + output, output, input } }),
      turn: {
        conversation,
        ask,
        turn,
        step: 0,
        isFollowed,
        at,
        decision: { id, at, model, ...place, key, cheaper: null, conversation, turn },
      },
    })
    return chosen
  }
  mock.timers.enable({ apis: ['Date'], now: 100 * hour })
  try {
    return requests.map((request, at) => {
      mock.timers.setTime(100 * hour + at * between)
      if (disturbed && at % (count / repeats) === 0) serve({ ...monitored(at), ...disturbed.beside(at) })
      return serve(request, disturbed?.served[at])
    })
  } finally {
    mock.timers.reset()
  }
}

function monitored(at: number): Request {
  return {
    id: `monitor ${at}`,
    key: 'monitor',
    conversation: 'monitor',
    ask: 'Say OK if you are alive.',
    turn: 1,
    isFollowed: false,
    complexity: 0.5,
    output: 60_000,
    isAnswered: true,
  }
}

describe('a key that repeats one prompt 1,000 times, with exploration off', function () {
  this.timeout(0)
  let gateway: RunningGateway
  before(async () => {
    const smart_routing = { enabled: true, exploration: { enabled: false } }
    const providers = [{ name: 'far', type: 'echo' }]
    gateway = await startGateway({ providers, models: threeModels, server_config: { smart_routing } })
  })
  after(() => gateway.close())

  const seeds = [1, 2, 3]
  /** How many choices for the others are other ones because of it. */
  const moved = (beside: Beside) => {
    let sum = 0
    for (const seed of seeds) {
      const requests = work(seed)
      const alone = choices(gateway, requests)
      const disturbed = choices(gateway, requests, { beside, served: alone })
      expect(new Set(alone).size, 'the choices differ at all').to.equal(3)
      sum += alone.filter((model, at) => model !== disturbed[at]).length
    }
    return sum
  }

  it('moves no choice for another key', () => {
    expect(moved(() => ({}))).to.equal(0)
  })

  it('moves one of a hundred at most by naming a conversation: it is one question that is asked again', () => {
    expect(moved(() => ({ isFollowed: true }))).to.be.at.most((seeds.length * count) / 100)
  })

  it('moves some only if a thousand keys send it, each in conversations of its own', () => {
    expect(moved((at) => ({ key: `key of ${at}`, conversation: `its own ${at}` }))).to.be.above(100)
  })
})
