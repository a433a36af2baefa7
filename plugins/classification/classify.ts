import { defineStage, GatewayError } from '../../engine/index.ts'
import type {
  Catalog,
  Envelope,
  GenerateRequest,
  JsonObject,
  Principal,
  Slots,
  Tier,
  Vote,
} from '../../engine/index.ts'
import { defined, duration, durationSchema, isObject, tierOf, tierRanges } from '../../engine/kit.ts'
import { blend } from './blend.ts'
import type { Abstention, Blend, CountedVote } from './blend.ts'
import type { Calibration } from './calibration.ts'
import { rawConfidence } from './confidence-map.ts'
import { factsOf } from './facts.ts'
import type { Facts } from './facts.ts'
import { earlierTexts, lastText, lastTurn } from './turn.ts'
import type { Turn } from './turn.ts'

/** How hard a request is, as the signals see it together. */
export interface Ensemble {
  /** From 0 (any model suffices) to 1 (only the best). */
  readonly complexity: number
  /** What a better model gains, on the scale of complexity; absent: as much as the request is complex. */
  readonly benefit?: number
  readonly tier: Tier
  /** Probability that the tier is right, from `confidenceRaw` by the confidence map of version `map`. */
  readonly confidence: number
  readonly confidenceRaw: number
  readonly map: string
  /** Version of the weights of the signal that has any; null: it did not vote. */
  readonly weightsVersion: string | null
  readonly votes: Readonly<Record<string, CountedVote | Abstention>>
  /** Parts of the reasoning: `structural=0.41`, `structural=late`, `unclassified`. */
  readonly notes: readonly string[]
  /** The facts that the signals saw (`Facts`). */
  readonly facts: JsonObject
  /** The numbers that a signal measured in the text; null: it did not vote. */
  readonly features: readonly number[] | null
  /** What the user said in the last turn, cleaned. Never to be logged. */
  readonly ask: string
  /** The last text of that turn, cleaned; absent: it has one. Never to be logged. */
  readonly last?: () => string
  /** At most `count` texts of the user before the last one, cleaned, oldest first. Never to be logged. */
  readonly earlier: (count: number) => readonly string[]
}

declare module '../../engine/index.ts' {
  interface Slots {
    ensemble: Ensemble
  }
}

/** A request, and what is read of it first. */
interface Asking {
  readonly preview: Slots['preview'] | undefined
  readonly neutral: GenerateRequest
  readonly turn: Turn
  readonly hint: ReturnType<typeof hintOf>
  readonly own: Facts
}

/** Milliseconds for which the signals are waited for in a preview. */
const patience = 10_000

/** Judges how hard a request is: by signals that run beside the event loop, and that are not waited for for long. */
export default defineStage({
  name: 'classify',
  summary: 'Judge how hard the request is, by signals.',
  config: {
    type: 'object',
    additionalProperties: false,
    examples: [{ signals: { metadata: 0.5, structural: 0.1 }, deadline: '25ms' }],
    required: ['signals'],
    properties: {
      signals: {
        type: 'object',
        minProperties: 1,
        propertyNames: { type: 'string', 'x-names': 'signal' },
        additionalProperties: { type: 'number', exclusiveMinimum: 0, maximum: 1_000 },
        description: 'The weight of each signal, by name. Only their ratios count.',
      },
      deadline: {
        ...durationSchema,
        default: '25ms',
        description: 'How long the signals are waited for. A late one abstains.',
      },
    },
  } as const,
  needs: ['request'],
  reads: ['principal', 'preview'],
  provides: ['ensemble'],
  uses: ['smart_routing', 'calibration', 'conversations', 'experience'],
  build: (config, host, { smart_routing: routing, calibration, conversations, experience }) => {
    const weights = config.signals as Readonly<Record<string, number>>
    const deadline = duration(config.deadline)
    const names = Object.keys(weights)
    /** The last decision of the conversation of a request. */
    const previousOf = async ({ turn }: Facts, request: Envelope, principal: Principal) => {
      const conversation = conversations.of(request, principal)
      if (conversation === undefined) return undefined
      const { incumbent } = await experience.incumbent(conversation)
      if (incumbent === undefined) return undefined
      const { complexity, benefit } = incumbent
      return { complexity, ...defined({ benefit }), age: Math.max(1, turn - incumbent.turns) }
    }
    const classify = ({ preview, neutral, turn, hint, own }: Asking, previous?: JsonObject) => {
      const facts: JsonObject = { ...own, ...defined({ hint, previous }) }
      // Nobody waits for a preview, and a process that serves nothing has no thread ready.
      const wait = preview ? patience : deadline
      const started = performance.now()
      const seen = (votes: ReadonlyMap<string, Vote>) => {
        // A timer may end up to a millisecond early.
        const missing = performance.now() - started < wait - 1 ? 'failed' : 'late'
        const blended = blend(weights, votes, missing, (preview?.settings ?? routing.settings).default_complexity)
        const measured = measuring(votes)
        const ensemble: Ensemble = {
          ...blended,
          ...confidenceIn(blended, calibration),
          tier: tierOf(blended.complexity),
          weightsVersion: measured?.version ?? null,
          facts,
          features: measured?.features ?? null,
          ask: turn.text,
          last: () => lastText(neutral),
          earlier: (count) => earlierTexts(neutral, count),
        }
        return { ensemble }
      }
      const votes = host.votes(names, { text: turn.text, facts }, wait)
      return votes instanceof Promise ? votes.then(seen) : seen(votes)
    }
    return ({ request, principal, preview }) => {
      const hint = hintOf(request, host.catalog)
      const neutral = request.neutral('generate')
      const turn = lastTurn(neutral)
      const own = factsOf(request, neutral, turn)
      const asking = { preview, neutral, turn, hint, own }
      // Nearly always, nobody waits.
      if (!own.refers_back || !principal) return classify(asking)
      return previousOf(own, request, principal).then((previous) => classify(asking, previous))
    }
  },
})

/** The vote of a signal that has measured the text. */
function measuring(votes: ReadonlyMap<string, Vote>): Vote | undefined {
  for (const vote of votes.values()) if (vote.features !== undefined) return vote
  return undefined
}

function abstain(votes: Blend['votes']): boolean {
  for (const name in votes) if (votes[name] && !('abstained' in votes[name])) return false
  return true
}

/** The raw confidence says how far from the borders of its tier a complexity is; the map says how often that is right. */
function confidenceIn({ complexity, votes }: Blend, calibration: Calibration) {
  const map = calibration.version
  if (abstain(votes)) return { confidence: 0, confidenceRaw: 0, map }
  const confidenceRaw = rawConfidence(complexity)
  return { confidence: calibration.map(confidenceRaw, tierOf(complexity)), confidenceRaw, map }
}

const classes: Readonly<Record<string, Tier>> = { economy: 'SIMPLE', balanced: 'MEDIUM', premium: 'COMPLEX' }

/**
 * The complexity that a client hints at, in the field `routing.hint` or the header `x-routing-hint`: by a tier, or by
 * a model of the class that it wants. Throws `invalid_value` for another word.
 */
function hintOf({ body, headers }: Pick<Envelope, 'body' | 'headers'>, catalog: Catalog): number | undefined {
  const { routing } = body
  const field = isObject(routing) ? (routing['hint'] ?? undefined) : undefined
  const header = headers['x-routing-hint']
  if (field !== undefined) return complexityOf(field, 'routing.hint', catalog)
  return header === undefined ? undefined : complexityOf(header, 'x-routing-hint', catalog)
}

function complexityOf(hint: unknown, param: string, catalog: Catalog): number {
  const tier = typeof hint === 'string' ? hint.toUpperCase() : ''
  if (Object.hasOwn(tierRanges, tier)) return tierRanges[tier as Tier].centre
  const model = typeof hint === 'string' ? catalog.find(hint) : undefined
  if (!model) {
    const reason = 'it must be SIMPLE, MEDIUM, COMPLEX, or the name of a model'
    throw new GatewayError('invalid_value', { param, reason }, { param })
  }
  return tierRanges[classes[model.quality_tier ?? 'economy'] ?? 'SIMPLE'].centre
}
