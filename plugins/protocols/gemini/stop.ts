import type { StopReason } from '../../../engine/index.ts'

/** Finish reasons (ai.google.dev/api/generate-content, `FinishReason`) that end an answer. */
const reasons: ReadonlyMap<string, StopReason> = new Map([
  ['STOP', 'end'],
  ['MAX_TOKENS', 'length'],
  ['CONTINUATION', 'pause'],
  ...[
    'SAFETY',
    'RECITATION',
    'LANGUAGE',
    'BLOCKLIST',
    'PROHIBITED_CONTENT',
    'SPII',
    'IMAGE_SAFETY',
    'IMAGE_PROHIBITED_CONTENT',
    'IMAGE_RECITATION',
  ].map((reason): [string, StopReason] => [reason, 'filter']),
])

/** Finish reasons of an answer that failed: it ends in the middle of a call, or in none that the model may make. */
const failures: ReadonlySet<string> = new Set([
  'MALFORMED_FUNCTION_CALL',
  'UNEXPECTED_TOOL_CALL',
  'TOO_MANY_TOOL_CALLS',
  'MISSING_THOUGHT_SIGNATURE',
  'MALFORMED_RESPONSE',
])

/** The neutral form of a finish reason. An unknown one ends an answer like any other. */
export function parseStop(reason: string, called: boolean): StopReason {
  const stop = reasons.get(reason) ?? 'end'
  return stop === 'end' && called ? 'tool' : stop
}

/** Whether a finish reason says that there is no usable answer. */
export function isFailure(reason: string): boolean {
  return failures.has(reason)
}

/** Prints a neutral stop reason. */
export function printStop(stop: StopReason): string {
  switch (stop) {
    case 'end':
    case 'stop':
    case 'tool':
      return 'STOP'
    case 'length':
    case 'context':
    // The provider would continue. With another reason, the client would mistake a part of the answer for all of it.
    case 'pause':
      return 'MAX_TOKENS'
    case 'refusal':
      return 'PROHIBITED_CONTENT'
    case 'filter':
      return 'SAFETY'
  }
}
