import { hash } from 'node:crypto'
import type { Given, Scope, Services } from '../../engine/index.ts'
import { isObject } from '../../engine/kit.ts'
import type { Decision } from './select.ts'
import { keyOf } from './shortlist.ts'
import type { Incumbent } from './shortlisted.ts'
import { isAbove } from './tier.ts'

/** What is known of an exchange at its end. */
export type Recorded = Given<
  'outcome',
  | 'target'
  | 'ensemble'
  | 'verdict'
  | 'decision'
  | 'model'
  | 'bill'
  | 'measurement'
  | 'principal'
  | 'preview'
  | 'request'
  | 'upstream'
  | 'answer'
>

type Seen = Parameters<Services['experience']['seen']>[0]

interface Lesson {
  readonly seen: Seen
  /** The decision; absent: there was no complete answer. */
  readonly decided: NonNullable<Seen['turn']>['decision']
  /** What the conversation is to go on with; absent: nothing served it, or it is none. */
  readonly kept?: { readonly conversation: string; readonly incumbent: Incumbent }
}

/** What an exchange has taught. */
export function lessonOf(decision: Decision, slots: Recorded, scope: Scope): Lesson {
  const { model, measurement } = slots
  const isComplete = model !== undefined && measurement?.read().complete === true
  const { conversation, incumbent: before, turn, step, isFollowed } = decision.asked
  const ask = decision.asked.ask === '' ? null : hash('sha256', decision.asked.ask, 'base64')
  const decided = isComplete ? { ...decidedOf(decision, slots, scope), ask } : undefined
  const seen: Seen = {
    from: { key: keyOf(slots.principal), conversation: conversation ?? null, ask },
    tries: triesOf(slots, scope),
    ...(isComplete ? { answer: answerOf(decision, slots, scope) } : {}),
    ...(conversation === undefined
      ? {}
      : { turn: { conversation, ask, turn, step, isFollowed, at: startOf(scope), decision: decided } }),
  }
  if (!isComplete || conversation === undefined) return { seen, decided }
  const { complexity, benefit, tier } = difficultyOf(decision, model.model.name, { step, incumbent: before })
  const incumbent = {
    model: model.model.name,
    complexity,
    ...(benefit === undefined || benefit === complexity ? {} : { benefit }),
    tier,
    cached: cachedOf(slots),
    turns: turn,
  }
  return { seen, decided, kept: { conversation, incumbent } }
}

/** What the model that served counts as chosen for: within the steps of an agent, the hardest so far. */
function difficultyOf(
  decision: Decision,
  served: string,
  { step, incumbent }: { readonly step: number; readonly incumbent: Incumbent | undefined },
): Pick<Incumbent, 'complexity' | 'benefit' | 'tier'> {
  const stays = step > 0 && incumbent?.model === served && !isAbove(decision.tier, incumbent.tier)
  return stays ? incumbent : decision
}

/** Share of the input that was read from a cache. */
function cachedOf({ bill }: Recorded): number {
  const { input = 0, cacheRead = 0, cacheWrite = 0 } = bill?.tokens ?? {}
  return cacheRead / Math.max(1, input + cacheRead + cacheWrite)
}

function decidedOf({ mode, tier, candidates, asked }: Decision, slots: Recorded, scope: Scope) {
  const served = slots.model?.model.name ?? ''
  const own = candidates.find((one) => one.model === served)?.cost ?? Infinity
  const cheaper = candidates
    .filter(({ cost, pass }) => pass && cost !== null && cost < own)
    .reduce<(typeof candidates)[number] | undefined>(
      (next, one) => (next && (next.cost ?? 0) >= (one.cost ?? 0) ? next : one),
      undefined,
    )
  return {
    id: scope.id,
    at: startOf(scope),
    model: served,
    mode,
    tier,
    key: keyOf(slots.principal),
    cheaper: cheaper?.model ?? null,
    conversation: asked.conversation ?? null,
    turn: asked.turn,
  }
}

/** When the exchange began, in milliseconds since 1970. */
function startOf(scope: Scope): number {
  return Math.round(Date.now() - scope.elapsed())
}

/** The time until the first byte is that of the model alone only if nothing else was tried before. */
function answerOf(
  { tier, asked }: Decision,
  { model, bill }: Recorded,
  { attempt, times }: Scope,
): Seen['answer'] & object {
  const upstream = times.find(({ name }) => name === 'upstream')?.milliseconds
  const { tokens } = bill ?? {}
  return {
    model: model?.model.name ?? '',
    tier,
    firstByte: attempt === 1 ? (upstream ?? null) : null,
    output: tokens ? tokens.output + tokens.reasoning : null,
    input: tokens
      ? {
          estimated: asked.input,
          counted: tokens.input + tokens.cacheRead + tokens.cacheWrite,
          cacheRead: tokens.cacheRead,
          cacheWrite: tokens.cacheWrite,
        }
      : null,
  }
}

/** Who was asked, and whether it worked. A client's mistake shows that it does; of a client that left, nothing is known. */
function triesOf({ model, outcome }: Recorded, { notes }: Scope): Seen['tries'] {
  const tries: { readonly model: string; readonly isAnswered: boolean }[] = []
  const failed = notes.get('tries')
  for (const one of Array.isArray(failed) ? (failed as readonly unknown[]) : [])
    if (isObject(one) && typeof one['model'] === 'string' && !unasked.has(one['code']))
      tries.push({ model: one['model'], isAnswered: isAnswer(Number(one['status'] ?? 0)) })
  if (model !== undefined && outcome.result !== 'client_closed')
    tries.push({ model: model.model.name, isAnswered: outcome.result === 'completed' })
  return tries
}

/** Codes of tries that say nothing of the provider. */
const unasked: ReadonlySet<unknown> = new Set([
  'breaker_open',
  'client_closed',
  'cancelled',
  'draining',
  'internal_error',
])

function isAnswer(status: number): boolean {
  return status >= 400 && status < 500 && status !== 408 && status !== 429
}
