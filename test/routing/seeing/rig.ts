import type { JsonObject } from '../../../engine/index.ts'
import type { RequestsTable } from '../../../plugins/request-log/table.ts'
import { rowWith } from '../../admin/logs/rig.ts'

/** The routing block of a row, as smart routing writes it. */
export function routingBlock(fields: JsonObject = {}): JsonObject {
  return {
    v: 1,
    mode: 'auto',
    tier: 'MEDIUM',
    complexity: 0.412,
    benefit: 0.371,
    confidence: 0.61,
    confidence_raw: 0.55,
    map: 'dev-1',
    weights_version: 's-1',
    ensemble: { complexity: 0.3, benefit: 0.2, tier: 'SIMPLE' },
    notes: ['judge=MEDIUM'],
    conversation: '9f2c',
    incumbent: null,
    candidates: ['m-mid', 'm-large'],
    chosen: 'm-mid',
    served: 'm-mid',
    explored: false,
    estimate: { input: 310, output: 600, cost: 0.00042, baseline: 'm-large', baseline_cost: 0.0031 },
    actual: { cost: 0.00039, baseline_cost: 0.0029, judge_cost: 0, savings: 0.00251 },
    propensity: {
      policy: 'ts-1',
      seed: '5b1f',
      trial_p: 0,
      arms: [{ model: 'm-mid', a: 4.5, b: 0.5, c: 0.31, pass: true }],
    },
    judge: null,
    features: { text: [0.1, 0.2], facts: { turn: 1, step: 0 } },
    error: null,
    ...fields,
  }
}

/** The judge's part of a routing block. */
export function judgeBlock(fields: JsonObject = {}): JsonObject {
  return {
    model: 'judge-1',
    request_id: 'j-1',
    shadow: true,
    gate_fired: false,
    sampled: true,
    sample_p: 0.02,
    asked: true,
    verdict: 'COMPLEX',
    mass: 0.71,
    escalation: 0.71,
    distribution: { SIMPLE: 0.05, MEDIUM: 0.24, COMPLEX: 0.71 },
    applied: false,
    held: false,
    latency_ms: 212,
    input_tokens: 188,
    cost: 0.0000094,
    cost_origin: 'model',
    error: null,
    ...fields,
  }
}

/** The stored row of a routed request. */
export function routedRow(
  id: string,
  fields: Partial<RequestsTable> = {},
  routing: JsonObject = routingBlock(),
): RequestsTable {
  const metadata = JSON.stringify({ routing_tier: routing['tier'], resolved_model: routing['served'], routing })
  return rowWith(id, { requested: 'auto', model: 'm-mid', tier: 'MEDIUM', at: Date.now(), metadata, ...fields })
}

const eligible = (name: string, quality_tier: string, input: number) => {
  return { name, provider: 'far', quality_tier, pricing: { input, output: 4 * input }, auto_eligible: true }
}

/** Three models, one of each level, of which the best one takes images. */
export const pool = [
  eligible('small', 'economy', 0.1),
  eligible('mid', 'balanced', 1),
  { ...eligible('large', 'premium', 10), supports_images: true },
]
