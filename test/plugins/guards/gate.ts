import { expect } from 'chai'
import { ampleRoom } from '../../../engine/kit.ts'
import type { AnyGuard, Envelope, GenerateEvent, Host, Scope } from '../../../engine/index.ts'
import { gateOf } from '../../../plugins/guards/answers.ts'
import { GuardedExchange } from '../../../plugins/guards/exchange.ts'
import type { Around } from '../../../plugins/guards/requests.ts'
import { Rule } from '../../../plugins/guards/rule.ts'
import { TokenTable } from '../../../plugins/guards/token-table.ts'
import { GateStep } from '../../../plugins/translation/gate-step.ts'

const scope = {
  id: 'x',
  onAbort: () => () => undefined,
  note: () => undefined,
  header: () => undefined,
} as unknown as Scope
const host = { log: { warn: (fields: object) => expect.fail(JSON.stringify(fields)) } } as unknown as Host
export const request = {
  body: {},
  protocol: 'chat',
  operation: 'generate',
  model: 'm',
  stream: true,
  headers: {},
} as unknown as Envelope

/** What a guard knows of an exchange. */
export function around(): Around {
  return {
    host,
    scope,
    principal: undefined,
    exchange: new GuardedExchange(scope, () => undefined),
    isLast: true,
    denied: undefined,
    masking: () => ({ hashKey: Buffer.alloc(32), keyId: '', tokens: new TokenTable(), isOwn: false }),
  }
}

export function ruleWith(kind: AnyGuard, config: object, action: 'mask' | 'deny' | 'retry'): Rule {
  const record = {
    name: 'guard',
    kind: kind.name,
    enabled: true,
    side: ['input', 'output', 'tool_calls'],
    roles: ['user'],
    scope: 'all',
    reasoning: true,
    action,
    mask: 'redact',
    shadow: false,
    sample: 1,
    timeout: '2s',
    window: { characters: 1_024, time: '500ms', overlap: 256 },
    message: '',
    times: 1,
    feedback: '',
    default: true,
    allow_private: false,
    ...config,
  } as const
  return new Rule(record as never, { kind, place: 0, bounds: undefined, services: () => ({}) })
}

/**
 * What comes out of the gate of a guard, or of several beside each other, for the events of each read of the upstream,
 * or of a whole answer.
 */
export function through(
  rules: Rule | readonly Rule[],
  reads: readonly (readonly GenerateEvent[])[],
  isWhole = false,
): GenerateEvent[] {
  let isReading = false
  const step = new GateStep(
    gateOf([rules].flat(), request, around()),
    {},
    {
      isWhole,
      get isReading() {
        return isReading
      },
      signal: new AbortController().signal,
      room: ampleRoom,
      usage: () => undefined,
      later: () => expect.fail('a judge of known length waits for nothing'),
    },
  )
  const out: GenerateEvent[] = []
  for (const events of reads) {
    isReading = events.length > 1
    for (const event of events) step.pass(event, out)
    isReading = false
    step.settle(out)
  }
  return out
}
