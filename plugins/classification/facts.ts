import type { Envelope, GenerateRequest, JsonObject } from '../../engine/index.ts'
import { isObject } from '../../engine/kit.ts'
import { refersBack } from './courtesy.ts'
import { stepsFrom } from './steps.ts'
import type { Steps } from './steps.ts'
import { countTurns } from './turn.ts'
import type { Turn } from './turn.ts'

/**
 * Counts and flags that describe a request. Signals read them, and the row of the request keeps them: nothing of what
 * anybody wrote is in them.
 */
export interface Facts extends Steps {
  /** Turns of the user. */
  readonly turn: number
  /** Whether nothing was said before, by a model or a tool. */
  readonly first: boolean
  readonly images: number
  readonly fences: number
  readonly quotes: number
  readonly pastes: number
  /** Depth and number of fields of the JSON schema that the answer must have; 0: none is demanded. */
  readonly schema_depth: number
  readonly schema_fields: number
  readonly tools: number
  readonly background: boolean
  readonly refers_back: boolean
  readonly effort?: Effort
  readonly max_output?: number
  readonly verbosity?: string
  readonly service_tier?: string
  /** Complexity that the client hints at. */
  readonly hint?: number
  /** The last decision of the conversation, and how many turns ago it was. */
  readonly previous?: { readonly complexity: number; readonly benefit?: number; readonly age: number }
}

const efforts = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const

type Effort = (typeof efforts)[number]

/** The facts of a request, without hint and earlier decision. */
export function factsOf(
  { background, body }: Pick<Envelope, 'background' | 'body'>,
  request: GenerateRequest,
  turn: Turn,
): Facts {
  const { items, tools, format, maxOutputTokens: most, verbosity, serviceTier } = request
  const effort = effortOf(request)
  const { depth, fields } = format?.type === 'schema' ? shapeOf(format.schema) : { depth: 0, fields: 0 }
  return {
    turn: countTurns(items),
    first: isFirst(request) && !continues(body),
    ...stepsFrom(items, turn.end),
    images: turn.images,
    fences: turn.fences,
    quotes: turn.quotes,
    pastes: turn.pastes,
    schema_depth: depth,
    schema_fields: fields,
    tools: tools.length,
    background,
    refers_back: refersBack(turn.text),
    ...(effort === undefined ? {} : { effort }),
    ...(most === undefined ? {} : { max_output: most }),
    ...(isWord(verbosity) ? { verbosity } : {}),
    ...(isWord(serviceTier) ? { service_tier: serviceTier } : {}),
  }
}

function isFirst({ items }: GenerateRequest): boolean {
  return items.every((item) => item.type === 'message' && item.role !== 'assistant')
}

/** Whether a body goes on with something that is stored, here or at a provider. */
function continues({ previous_response_id: previous = null, conversation = null }: JsonObject): boolean {
  return previous !== null || conversation !== null
}

/** Words of a protocol, not texts: they are kept in rows. */
const words = new Set('low medium high auto default flex priority scale standard standard_only batch'.split(' '))

function isWord(word: string | undefined): word is string {
  return word !== undefined && words.has(word)
}

/** Largest budgets of reasoning tokens that still count as an effort; beyond the last it is the highest. */
const budgets: readonly (readonly [number, Effort])[] = [
  [0, 'none'],
  [1_024, 'minimal'],
  [4_096, 'low'],
  [12_288, 'medium'],
  [32_768, 'high'],
  [65_536, 'xhigh'],
]

function effortOf({ reasoning }: GenerateRequest): Effort | undefined {
  const { effort, budget } = reasoning ?? {}
  const named = efforts.find((word) => word === effort)
  if (named !== undefined || budget === undefined) return named
  return budgets.find(([most]) => budget <= most)?.[1] ?? 'max'
}

/** Deepest level, and most values, of a schema that are looked at. */
const deepest = 12
const most = 400

/** How deeply the objects and lists of a JSON schema are nested, and how many fields they have. */
function shapeOf(schema: JsonObject): { readonly depth: number; readonly fields: number } {
  let fields = 0
  let seen = 0
  const depthOf = (value: unknown, level: number): number => {
    if (!isObject(value) || level >= deepest || ++seen > most) return 0
    const { properties, items } = value
    const own = isObject(properties) ? Object.values(properties) : []
    fields += own.length
    const inner = [...own, ...(items === undefined ? [] : [items])]
    if (inner.length === 0) return 0
    return 1 + inner.reduce<number>((depth, one) => Math.max(depth, depthOf(one, level + 1)), 0)
  }
  return { depth: depthOf(schema, 0), fields }
}
