import type { Mode, ModelRecord, Services, Slots } from '../../engine/index.ts'
import { fitting, holds } from '../../engine/kit.ts'
import type { Demand } from './demand.ts'
import { qualityTiers } from './preferences.ts'
import type { RoutingPreferences } from './preferences.ts'
import { levelOf } from './score.ts'
import type { Gate } from './sieve.ts'
import type { ShortlistEntry } from './shortlisted.ts'

/** What the gates before that of money look at. */
export interface AtGates {
  readonly mode: Mode
  readonly models: Slots['principal']['models']
  readonly preferences: RoutingPreferences
  /** What models did lately in the tier of the request. */
  readonly outcomesOf: (model: ModelRecord) => Pick<ReturnType<Services['experience']['outcomes']>, 'firstByte'>
  readonly demand: Demand
  /** Estimated tokens of the input. */
  readonly input: number
  /** Most tokens of output: what the client says, otherwise what is assumed. */
  readonly output: { readonly asked: number | undefined; readonly assumed: number }
  readonly graceful: boolean
}

/** The gates that concern a request for some of these models, in their order. */
export function gatesFor(at: AtGates, entries: readonly ShortlistEntry[]): readonly Gate[] {
  const all = [allowlist(at), constraints(at), assignment(at, entries), images(at), tools(at), context(at, entries)]
  return all.filter((gate) => gate !== undefined)
}

function allowlist({ models }: AtGates): Gate | undefined {
  if (models === undefined) return undefined
  return {
    name: 'allowlist',
    words: ['allowed', 'allowed'],
    code: 'allowlist_exhausted',
    keeps: ({ model }) => holds(models, model.name),
  }
}

function constraints({ preferences, outcomesOf }: AtGates): Gate | undefined {
  const { allow, deny, minQualityTier, maxLatency } = preferences
  if (allow === undefined && deny.length === 0 && minQualityTier === undefined && maxLatency === undefined)
    return undefined
  const isSlow = (model: ModelRecord) => maxLatency !== undefined && (outcomesOf(model).firstByte ?? 0) > maxLatency
  return {
    name: 'constraints',
    words: ['within the constraints of the request', 'within the constraints of the request'],
    code: 'routing_constraints_unmet',
    keeps: ({ model }) =>
      (allow === undefined || names(allow, model)) &&
      !names(deny, model) &&
      levelOf(model.quality_tier) >= levelOf(minQualityTier ?? qualityTiers[0]) &&
      !isSlow(model),
  }
}

/** Whether a list has a name of a model, or a pattern that fits its own name. */
function names(list: readonly string[], { name, aliases }: ShortlistEntry['model']): boolean {
  return list.some((one) => one === name || aliases.includes(one)) || fitting(name, list) !== undefined
}

function assignment({ mode, graceful }: AtGates, entries: readonly ShortlistEntry[]): Gate | undefined {
  if (entries.every(({ model }) => model.routing_assignments === undefined)) return undefined
  return {
    name: 'assignment',
    words: [`assigned to ${mode}`, `assigned to ${mode}`],
    code: 'routing_constraints_unmet',
    keeps: ({ model: { routing_assignments: modes } }) => modes?.includes(mode) ?? true,
    ...(graceful && { otherwise: (all: readonly ShortlistEntry[]) => all }),
  }
}

function images({ demand }: AtGates): Gate | undefined {
  if (!demand.images) return undefined
  return {
    name: 'images',
    words: ['takes images', 'take images'],
    code: 'no_available_models',
    keeps: ({ model }) => model.supports_images,
  }
}

function tools({ demand }: AtGates): Gate | undefined {
  if (!demand.tools) return undefined
  return {
    name: 'tools',
    words: ['takes tools', 'take tools'],
    code: 'no_available_models',
    keeps: ({ model }) => model.supports_tools,
  }
}

function context(
  { input, output: { asked, assumed }, graceful }: AtGates,
  entries: readonly ShortlistEntry[],
): Gate | undefined {
  if (entries.every(({ model }) => model.context_length === undefined)) return undefined
  const windowOf = ({ model }: ShortlistEntry) => model.context_length ?? Infinity
  const outputOf = ({ model: { max_output_tokens: most = assumed } }: ShortlistEntry) =>
    asked ?? Math.min(most, assumed)
  return {
    name: 'context',
    words: ['has the context', 'have the context'],
    code: 'no_available_models',
    keeps: (entry) => input + outputOf(entry) <= windowOf(entry),
    ...(graceful && {
      otherwise: (all: readonly ShortlistEntry[]) =>
        all.filter((entry) => input <= windowOf(entry)).toSorted((one, other) => windowOf(other) - windowOf(one)),
    }),
    hint: () => `The request has about ${input} tokens of input.`,
  }
}
