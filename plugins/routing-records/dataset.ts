import { hash } from 'node:crypto'
import type { JsonObject } from '../../engine/index.ts'
import { defined, parsedObject, timeText } from '../../engine/kit.ts'
import { objectIn } from './decision.ts'
import type { Row } from './decision.ts'
import type { LabelsTable } from './table.ts'

/** A routed request, as both corpora have it. */
export interface Example {
  readonly row: Row
  /** The routing block of the row. */
  readonly routing: JsonObject
  readonly label: LabelsTable | undefined
  /** The text that the request was routed by; undefined: it is not kept. */
  readonly text: string | undefined
}

/** Most characters of a prompt. */
export type Budget = number

/** A line of the corpus `feedback`: what was decided, and how it was rated. */
export function feedbackLine(example: Example, budget: Budget): JsonObject {
  const { routing } = example
  const { tier = null, complexity = null, benefit, confidence = null } = routing
  return {
    corpus: 'feedback',
    ...requestOf(example, budget),
    mode: routing['mode'] ?? null,
    tier,
    complexity,
    ...defined({ benefit }),
    confidence,
    ...decisionOf(routing),
    ...ratingOf(example),
  }
}

/**
 * A line of the corpus `judge_shadow`: what the judge said, and the decision of the ensemble that it would have replaced,
 * or did.
 */
export function judgedLine(example: Example, budget: Budget): JsonObject {
  const { routing } = example
  const judge = objectIn(routing['judge'])
  const ensemble = objectIn(routing['ensemble'])
  const { tier = null, complexity = null } = ensemble
  const benefit = ensemble['benefit'] ?? (tier === routing['tier'] ? routing['benefit'] : undefined)
  return {
    corpus: 'judge_shadow',
    ...requestOf(example, budget),
    mode: routing['mode'] ?? null,
    ensemble: { tier, complexity, ...defined({ benefit }), confidence: routing['confidence'] ?? null },
    ...decisionOf(routing),
    ...ratingOf(example),
    verdict: judge['verdict'] ?? null,
    mass: judge['mass'] ?? null,
    escalation: judge['escalation'] ?? null,
    distribution: judge['distribution'] ?? null,
    error: judge['error'] ?? null,
    applied: judge['applied'] ?? false,
    gate_fired: judge['gate_fired'] ?? false,
    sampled: judge['sampled'] ?? false,
    sample_p: judge['sample_p'] ?? null,
    latency_ms: judge['latency_ms'] ?? null,
    input_tokens: judge['input_tokens'] ?? null,
    cost: judge['cost'] ?? null,
    judge_model: judge['model'] ?? null,
  }
}

function requestOf({ row, text }: Example, budget: Budget): JsonObject {
  const given = { id: row.id, at: timeText(row.at) }
  if (text === undefined) {
    const { routing_prompt_hash: prompt_hash = null } = parsedObject(row.metadata) ?? {}
    return { ...given, prompt: null, prompt_truncated: null, prompt_hash }
  }
  const prompt = cut(text, budget)
  return { ...given, prompt, prompt_truncated: prompt !== text, prompt_hash: hash('sha256', text) }
}

function decisionOf(routing: JsonObject): JsonObject {
  return {
    confidence_raw: routing['confidence_raw'] ?? null,
    map: routing['map'] ?? null,
    features: routing['features'] ?? null,
    model: routing['served'] ?? routing['chosen'] ?? null,
    candidates: routing['candidates'] ?? [],
    propensity: routing['propensity'] ?? null,
  }
}

/** A comment is for people, and never leaves. */
function ratingOf({ label }: Example): JsonObject {
  if (label === undefined) return { signal: null, signal_at: null, reward_applied: null }
  return { signal: label.signal, signal_at: timeText(label.at), reward_applied: label.applied === 1 }
}

/** Stands for what was cut out of a text. */
const gap = '\n…\n'

/** A text of at most so many characters: three fifths of its front, two fifths of its end. */
function cut(text: string, budget: Budget): string {
  if (text.length <= budget) return text
  const room = Math.max(0, budget - gap.length)
  const front = Math.ceil(room * 0.6)
  const halves = [text.slice(0, front), room > front ? text.slice(front - room) : '']
  // Half of a surrogate pair is no text.
  return halves.join(gap).replaceAll(/[\ud800-\udfff]/gu, '')
}
