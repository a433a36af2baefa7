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
  /** Stands for its hash. */
  readonly ask: string | null
  readonly turn: number
  readonly isFollowed: boolean
  readonly complexity: number
  readonly output: number
  readonly isAnswered: boolean
  /** Whether the answer is what its schema demands; absent: there is none. */
  readonly fits?: boolean
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

/** What a key sends beside the others, the how manieth time: by default one prompt, whose answers are very long. */
type Beside = (time: number) => Partial<Request>

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
    outcomes: (model, tier, of, key) => lessons.measurements[of](model, tier, Date.now(), key),
    spent: { routed: 0, extra: 0 },
  } satisfies Pick<Services['experience'], 'posterior' | 'outcomes' | 'spent'>
  const serve = (request: Request, served?: string) => {
    const { id, key, conversation, complexity, turn } = request
    const place = { mode: 'auto', tier: tierOf(complexity) } as const
    const difficulty = { complexity, benefit: complexity, tier: place.tier }
    const entries = models.map((model: ModelRecord) => ({ model, candidates: [], isBroken: false, cost: null }))
    const shortlist = { entries, notes: [], incumbent: undefined, input: 500, maxOutput: undefined }
    const { order } = decide({ id, key, ...place, difficulty, step: 0, shortlist, settings, experience })
    const chosen = order[0].model
    const model = served ?? chosen
    const { isAnswered, output, ask, isFollowed } = request
    const at = Date.now()
    const input = { estimated: 500, counted: 500 + (output % 90), cacheRead: 0, cacheWrite: 0 }
    const decision = { id, at, model, ...place, key, cheaper: null, conversation, turn, ask }
    lessons.see({
      from: { key, conversation, ask },
      tries: [{ model, isAnswered }],
      ...(isAnswered && { answer: { model, tier: place.tier, firstByte: 100 + output, output, input } }),
      turn: {
        conversation,
        ask,
        turn,
        step: 0,
        isFollowed,
        at,
        decision,
      },
    })
    if (request.fits !== undefined) lessons.observe(decision, 'implicit:schema', Number(request.fits))
    return chosen
  }
  mock.timers.enable({ apis: ['Date'], now: 100 * hour })
  try {
    return requests.map((request, at) => {
      mock.timers.setTime(100 * hour + at * between)
      const time = at / (count / repeats)
      if (disturbed && Number.isInteger(time)) serve({ ...monitored(time), ...disturbed.beside(time) })
      return serve(request, disturbed?.served[at])
    })
  } finally {
    mock.timers.reset()
  }
}

function monitored(time: number): Request {
  return {
    id: `monitor ${time}`,
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

  /** Worlds of those who work, and how hard the repeated prompt is in each. */
  const worlds = [0.5, 0.1, 0.66, 0.9, 0.32].map((complexity, at) => ({ complexity, requests: work(at + 1) }))
  const alone = worlds.map(() => [] as readonly string[])
  before(() => {
    for (const [at, { requests }] of worlds.entries()) {
      alone[at] = choices(gateway, requests)
      expect(new Set(alone[at]).size, 'the choices differ at all').to.equal(3)
    }
  })
  /** How many choices for the others are other ones because of it, in all worlds. */
  const moved = (beside: Beside) =>
    worlds.map(({ complexity, requests }, at) => {
      const served = alone[at] ?? []
      const disturbed = choices(gateway, requests, { beside: (time) => ({ complexity, ...beside(time) }), served })
      return served.filter((model, index) => model !== disturbed[index]).length
    })
  const none = worlds.map(() => 0)

  const ways: Readonly<Record<string, Beside>> = {
    'as new requests': () => ({}),
    'as new requests that fail': () => ({ isAnswered: false }),
    'in a conversation that it names': () => ({ isFollowed: true }),
    'as new turns of one conversation': (time) => ({ isFollowed: true, turn: 1 + time }),
    'in a new conversation each time': (time) => ({ conversation: `its own ${time}` }),
    'twice in each of many conversations, whose answers are no better': (time) => ({
      isFollowed: true,
      conversation: `its own ${Math.floor(time / 2)}`,
      turn: 1 + (time % 2),
    }),
    'with a schema that no answer keeps to': (time) => ({ isFollowed: true, turn: 1 + time, fits: false }),
    'as images alone': (time) => ({ ask: null, isFollowed: true, turn: 1 + time }),
    'as images alone, in a conversation each time that it names': (time) => ({
      ask: null,
      isFollowed: true,
      conversation: `its own ${time}`,
    }),
    'as images alone, twice in each of many conversations': (time) => ({
      ask: null,
      isFollowed: true,
      conversation: `its own ${Math.floor(time / 2)}`,
      turn: 1 + (time % 2),
    }),
    'as images alone, with a schema that no answer keeps to': (time) => ({
      ask: null,
      isFollowed: true,
      conversation: `its own ${time}`,
      fits: false,
    }),
  }
  for (const [way, beside] of Object.entries(ways))
    it(`moves no choice for another key: ${way}`, () => {
      expect(moved(beside)).to.deep.equal(none)
    })

  it('moves no choice for another key, even with a thousand keys', () => {
    expect(moved((time) => ({ key: `key of ${time}`, conversation: `its own ${time}` }))).to.deep.equal(none)
  })

  it('moves next to no choice once it has asked one other thing', () => {
    const asElse: Beside = (time) => ({ conversation: `its own ${time}`, ...(time === 0 && { ask: 'Who are you?' }) })
    // Of 15,000 choices. One value for each conversation would move 40.
    expect(moved(asElse).reduce((all, one) => all + one, 0)).to.be.at.most(5)
  })

  it('would move some if it were not one prompt', () => {
    const sum = (counts: readonly number[]) => counts.reduce((all, one) => all + one, 0)
    const figures = moved((time) => ({ ask: `ask ${time}`, conversation: `its own ${time}` }))
    expect(sum(figures)).to.be.above(0)
    const failing = moved((time) => ({ ask: `ask ${time}`, fits: false, conversation: `its own ${time}` }))
    expect(sum(failing)).to.be.above(sum(figures))
  })
})
