import { defineRecord } from '../../engine/index.ts'
import type { ConfigOf, RecordReport } from '../../engine/index.ts'
import { durationSchema, recordName, shape, sourceFilter, withTimes } from '../../engine/kit.ts'

const names = <const E extends readonly string[]>(words: E, usual: E, description: string) =>
  ({ type: 'array', minItems: 1, uniqueItems: true, items: { enum: words }, default: usual, description }) as const

const sides = ['input', 'output', 'tool_calls', 'tool_results'] as const
const roles = ['user', 'tool', 'system', 'assistant'] as const

const schema = {
  type: 'object',
  title: 'guard',
  examples: [{ name: 'my-guard', kind: 'secrets', action: 'mask' }],
  required: ['name', 'kind'],
  description: 'A guard, which judges requests and answers.',
  properties: {
    name: {
      ...recordName,
      maxLength: 64,
      pattern: '^[a-zA-Z][\\w.-]*$',
      patternErrorMessage: 'must begin with a letter, and be of letters, digits, ".", "_" and "-"',
      description: 'Name of the guard.',
    },
    kind: { type: 'string', description: 'Kind of the guard, which determines its further fields.' },
    enabled: { type: 'boolean', default: true, description: 'Whether the guard judges anything.' },
    side: {
      type: 'array',
      minItems: 1,
      uniqueItems: true,
      items: { enum: sides },
      default: ['input', 'output'],
      description:
        'What is judged: texts of requests (`input`), text, refusals and reasoning of answers (`output`), arguments of the calls in answers (`tool_calls`), results of tools in requests (`tool_results`).',
    },
    roles: names(roles, roles, 'Whose texts of a request are judged. `system` is that of developers, too.'),
    scope: {
      enum: ['all', 'turn'],
      default: 'all',
      description: 'How much of a request is judged: all, or what follows the last message of the assistant.',
    },
    reasoning: { type: 'boolean', default: true, description: 'Whether the reasoning in answers is judged.' },
    action: {
      enum: ['deny', 'mask', 'flag', 'retry', 'fallback'],
      default: 'deny',
      description:
        'What follows when something is found. `retry` asks the same model again, `fallback` the next one; both judge whole answers.',
    },
    mask: {
      enum: ['redact', 'hash', 'token'],
      default: 'redact',
      description:
        'What takes the place of what was found: `[EMAIL]`, `[EMAIL:1f3a9c20]`, or `<EMAIL_1>`, of which the client gets the text back.',
    },
    shadow: {
      type: 'boolean',
      default: false,
      description: 'Whether it only judges and records, and changes nothing.',
    },
    sample: {
      type: 'number',
      minimum: 0,
      maximum: 1,
      default: 1,
      description: 'Share of the requests that are judged. Below 1 with `shadow` or `flag` alone.',
    },
    on_error: {
      enum: ['closed', 'open'],
      description:
        'What follows when it cannot judge: nothing passes, or everything. Unset: `open` for `flag` and `shadow`, otherwise `closed`.',
    },
    timeout: {
      ...durationSchema,
      'x-minimum': '10ms',
      'x-maximum': '60s',
      default: '2s',
      description: 'Longest time of one judgement, from 10ms to 60s.',
    },
    stream: {
      enum: ['window', 'full', 'after'],
      description:
        'How streams are judged: in windows, held back to their end, or when everything has passed. Unset: `window`, and `full` where only whole answers can be judged. What has a longest match needs none of these.',
    },
    window: {
      type: 'object',
      additionalProperties: false,
      default: {},
      description: 'The windows of streams.',
      properties: {
        characters: {
          type: 'integer',
          minimum: 1,
          maximum: 1_000_000,
          default: 1_024,
          description: 'Characters of new text that are judged at a time.',
        },
        time: { ...durationSchema, 'x-minimum': '1ms', default: '500ms', description: 'Longest wait for them.' },
        overlap: {
          type: 'integer',
          minimum: 0,
          maximum: 1_000_000,
          default: 256,
          description: 'Characters before them that are judged again.',
        },
      },
    },
    message: {
      type: 'string',
      maxLength: 1_024,
      default: '',
      description: 'What the client reads when something is denied. Empty: "The content was blocked."',
    },
    times: {
      type: 'integer',
      minimum: 1,
      maximum: 5,
      default: 1,
      description: 'Most further tries of the same model. Action `retry`.',
    },
    feedback: {
      type: 'string',
      maxLength: 4_096,
      default: '',
      description: 'Message of the user that is added to a further try. Action `retry`.',
    },
    default: {
      type: 'boolean',
      default: true,
      description:
        'Whether every request is judged; otherwise only where a key, a model or the request names the guard.',
    },
    allow_private: {
      type: 'boolean',
      default: false,
      description: 'Whether the service of a guard that is not declared in the file may be at a private address.',
    },
  },
} as const

/** The fields of every guard, beside its kind and the fields of that. */
export const guardFields = schema.properties

/** A guard as it is declared, with the fields of its kind. */
export type GuardRecord = ConfigOf<typeof schema>

declare module '../../engine/index.ts' {
  interface Records {
    guard: GuardRecord
  }
}

/** Words that the routes of guards have for themselves beside `:name`. */
const reserved = ['test', 'verdicts', 'figures', 'kinds']

export default defineRecord({
  name: 'guard',
  summary: 'Guards judge requests and answers: they deny, mask or flag what their kind finds.',
  place: 'guards',
  schema,
  typed: 'guard',
  optional: true,
  switch: 'enabled',
  route: '/api/guards',
  shows: {
    kind: shape.orNull(schema.properties.kind),
    on_error: shape.word(['closed', 'open'], 'What follows when it cannot judge.'),
  },
  always: ['kind', 'on_error', 'created_at', 'updated_at'],
  lists: {
    filters: {
      kind: { accepts: 'text' },
      action: { accepts: ['deny', 'mask', 'flag', 'retry', 'fallback'] },
      shadow: { accepts: 'boolean' },
      default: { accepts: 'boolean' },
      source: sourceFilter,
    },
    sorts: ['name', 'kind', 'created_at'],
  },
  check: (record, _all, report) => {
    checkGuard(record, report)
    checkSides(record, report)
  },
  show: (shown, { value }) => ({
    kind: null,
    ...withTimes(shown),
    on_error: onErrorOf(value as unknown as Pick<GuardRecord, 'on_error' | 'action' | 'shadow'>),
  }),
})

function checkGuard(guard: GuardRecord, report: RecordReport): void {
  const { name, action, stream, shadow, sample, side, window, scope, mask } = guard
  const wrong = (path: readonly string[], message: string) => report(path, 'guard', message)
  const judgesAnswers = side.includes('output') || side.includes('tool_calls')
  const judgesRequests = side.includes('input') || side.includes('tool_results')
  const changes = action !== 'flag' && !shadow
  if (reserved.includes(name)) report(['name'], 'reserved', `"${name}" is a part of addresses`, 'lenient')
  if (stream === 'after' && changes)
    wrong(['stream'], `it judges when everything has passed, so it cannot ${action}; only "flag" and "shadow" can`)
  if (action === 'retry' || action === 'fallback') {
    if (stream !== undefined && stream !== 'full')
      wrong(['stream'], `${action} judges whole answers: it needs "stream: full"`)
    if (judgesRequests) wrong(['side'], `${action} judges answers: it needs "side: [output]"`)
  }
  if (action !== 'retry') {
    if (guard.times > 1) wrong(['times'], 'only "action: retry" tries again')
    if (guard.feedback) wrong(['feedback'], 'only "action: retry" tells a further try')
  }
  if (sample < 1 && changes) wrong(['sample'], `it lets something pass unjudged, which "${action}" must not`)
  if (judgesAnswers && window.overlap !== undefined && window.overlap >= (window.characters ?? 1_024))
    wrong(['window', 'overlap'], 'it must be less than "characters"')
  if (action === 'mask' && mask === 'token' && scope === 'turn')
    wrong(['scope'], 'tokens are numbered over the whole conversation: they need "scope: all"')
}

/** Fields that say nothing on the sides that are judged. */
function checkSides({ side, roles: whose, scope, reasoning, stream }: GuardRecord, report: RecordReport): void {
  const wrong = (path: readonly string[], message: string) => report(path, 'guard', message)
  if (whose.length < roles.length && !side.includes('input'))
    wrong(['roles'], 'it says whose texts of requests are judged: it needs "side: [input]"')
  if (scope === 'turn' && !side.includes('input') && !side.includes('tool_results'))
    wrong(['scope'], 'it says how much of a request is judged: it needs "side: [input]", or "[tool_results]"')
  if (!reasoning && !side.includes('output'))
    wrong(['reasoning'], 'it says whether that of answers is judged: it needs "side: [output]"')
  if (stream !== undefined && !side.includes('output') && !side.includes('tool_calls'))
    wrong(['stream'], 'it says how answers are judged: it needs "side: [output]", or "[tool_calls]"')
}

/** What follows when a guard cannot judge. */
export function onErrorOf({
  on_error: given,
  action,
  shadow,
}: Pick<GuardRecord, 'on_error' | 'action' | 'shadow'>): 'closed' | 'open' {
  return given ?? (action === 'flag' || shadow ? 'open' : 'closed')
}

/** For kinds that find no places: what they cannot do. */
export function checkWhole(config: unknown, report: RecordReport): void {
  const { stream = 'full', action, shadow } = config as Pick<GuardRecord, 'stream' | 'action' | 'shadow'>
  if (stream === 'window') report(['stream'], 'guard', 'it judges whole answers: it needs "stream: full"')
  if (action === 'mask' && !shadow) report(['action'], 'guard', 'it finds no places that could be masked')
}
