import { durationSchema } from '../spec/duration.ts'

/** Step names that pipelines reserve. */
export const structuralWords = ['use', 'switch', 'attempt', 'act'] as const

/** The key for a timeout next to the name of a step. */
export const timeoutWord = 'timeout'

const steps = { type: 'array', minItems: 1, description: 'Steps, in order.' } as const

/** Fields that any step may have next to its name. */
export const timeoutFormat = {
  ...durationSchema,
  description: 'How long the step may take. After that the answer is 504, or another candidate is tried.',
} as const

const beginning = {
  type: 'string',
  pattern: '^/(?:[\\w.~-]{1,64}/){0,16}$',
  patternErrorMessage: 'must begin and end with "/"',
} as const

/** The `aliases` of a file: further addresses for the routes of all files. */
export const aliasesFormat = {
  type: 'object',
  description: 'Prefixes of paths, such as "/v1/", each with further prefixes under which the same routes are served.',
  propertyNames: beginning,
  additionalProperties: { type: 'array', minItems: 1, items: beginning },
} as const

/** One pipeline of a file. */
export const pipelineFormat = {
  type: 'object',
  additionalProperties: false,
  required: ['name', 'summary', 'stages'],
  properties: {
    name: {
      type: 'string',
      pattern: '^[a-z][a-z0-9-]*$',
      patternErrorMessage: 'must be lower-case letters, digits and hyphens, and begin with a letter',
      description: 'Name of the pipeline, for use: and for logs.',
    },
    summary: { type: 'string', minLength: 1, description: 'What it does, in one sentence.' },
    protocol: {
      type: 'string',
      description: 'Protocol that the clients of its routes speak; their errors are printed in it.',
    },
    routes: {
      type: 'array',
      default: [],
      description:
        'What it serves: "actions" for the routes of all actions that no other pipeline serves; "POST /v1/things/:id", "GET /v1/things/*" for every path below, "POST /v1/things/*:run" for those of them that end so, "GET /*" for every path that no other route names, or "WS /v1/things" for a WebSocket.',
      items: {
        type: 'string',
        pattern:
          '^(actions|(GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS|WS) (/\\*?|(/(:[a-z][a-z0-9_]*|[\\w.~-]+))+(/\\*(:\\w+)?)?))$',
        patternErrorMessage: 'must be a method and a path, such as "POST /v1/things/:id" or "WS /v1/things"',
      },
    },
    socket: {
      enum: ['messages', 'relay'],
      default: 'messages',
      description:
        'What its WebSockets carry. messages: each message is a request. relay: one exchange lasts as long as the socket is open.',
    },
    public: { type: 'boolean', default: false, description: 'Serves clients without authentication.' },
    inputs: {
      type: 'array',
      default: [],
      items: { type: 'string' },
      description: 'Slots that must be there when it starts.',
    },
    without: {
      type: 'array',
      default: [],
      uniqueItems: true,
      items: { type: 'string', minLength: 1 },
      description:
        'Duties that it need not pay, such as "limit"; neither need what it includes. The reference of each stage says what it owes.',
    },
    copied: {
      type: 'string',
      pattern: '^\\d+\\.\\d+\\.\\d+',
      patternErrorMessage: 'must be a version, such as 1.2.3',
      description:
        'Version of Sluice whose pipeline this is a copy of; "sluice new pipeline" writes it. A later version whose pipeline has further stages then says so.',
    },
    stages: steps,
    finally: {
      ...steps,
      default: [],
      minItems: 0,
      description: 'Steps that run once, after the last byte was sent or the client disconnected.',
    },
  },
} as const

/** An arm of a `switch`. */
export const armFormat = {
  type: 'object',
  additionalProperties: false,
  required: ['do'],
  properties: {
    when: {
      type: 'object',
      minProperties: 1,
      description:
        'Dotted paths into slots, and what each must be: a value, a list of values, or a map of "not", "prefix" and ' +
        '"pattern" (with * for any characters). Absent: otherwise.',
    },
    do: { ...steps, minItems: 0 },
  },
} as const

/** A `switch`: its first arm that matches is run. */
export const switchFormat = { type: 'array', minItems: 1, description: 'Runs the first arm that matches.' } as const

/** The words of `on` where nobody wrote others. */
export const usualFailures: ReadonlySet<string> = new Set(['connect', 'timeout', 'invalid', 'guard', '429', '5xx'])

/** A word of `on`. */
export const failureFormat = {
  pattern: '^(connect|timeout|invalid|guard|[45]\\d\\d|[45]xx)$',
  patternErrorMessage: 'must be connect, timeout, invalid, guard, a status from 400 to 599, 4xx or 5xx',
} as const

/** What an `attempt` and the settings `resilience.retries` say alike. */
export const retriesFormat = {
  tries: { type: 'integer', minimum: 1, maximum: 10, default: 3 },
  wait: {
    ...durationSchema,
    default: '200ms',
    description:
      'Longest wait before the same candidate is tried again; it doubles with every further try. The actual wait is random.',
  },
  wait_max: { ...durationSchema, default: '5s' },
  budget: {
    type: 'number',
    minimum: 0,
    maximum: 1,
    default: 0.2,
    description: 'Retries that a provider gets, as a share of the requests that are active there.',
  },
  budget_floor: {
    type: 'integer',
    minimum: 0,
    default: 3,
    description: 'Retries that a provider gets even when few requests are active.',
  },
} as const

/** An `attempt`. */
export const attemptFormat = {
  type: 'object',
  additionalProperties: false,
  required: ['do'],
  description: 'Tries candidates in order until one serves; each try binds the next one to "model".',
  properties: {
    over: { type: 'string', default: 'candidates', description: 'Slot of the candidates.' },
    tries: { ...retriesFormat.tries, 'x-setting': 'resilience.retries.tries', description: 'Tries in all.' },
    on: {
      type: 'array',
      default: [...usualFailures],
      'x-setting': 'resilience.retries.on',
      items: {
        type: ['string', 'integer'],
        ...failureFormat,
        minimum: 400,
        maximum: 599,
      },
      description:
        'Failures to try again after, with the next candidate or, after the last one, with the first: connect, timeout, invalid (an unreadable answer), guard (a guard wants another try), an upstream status, or a class of them (4xx, 5xx). With the default list, a candidate is not asked twice in a row after a timeout, or after a 5xx that does not say that the provider is overloaded (503, 529): it may have done the work. With any other list it is.',
    },
    wait: { ...retriesFormat.wait, 'x-setting': 'resilience.retries.wait' },
    wait_max: {
      ...retriesFormat.wait_max,
      'x-setting': 'resilience.retries.wait_max',
      description:
        "Longest wait ever. A candidate's own `retry-after` is respected up to it; a candidate that asks for more is not tried again.",
    },
    budget: { ...retriesFormat.budget, 'x-setting': 'resilience.retries.budget' },
    budget_floor: { ...retriesFormat.budget_floor, 'x-setting': 'resilience.retries.budget_floor' },
    do: steps,
    otherwise: {
      ...steps,
      description:
        'Steps, in order, when no try served and the last one failed in a way that "on" lists, even if another try ' +
        'could not have helped. They start with the slots from before the attempt.',
    },
  },
} as const

/** The fields of an `attempt` besides its steps. */
export const attemptOptions = Object.keys(attemptFormat.properties).filter(
  (name) => name !== 'do' && name !== 'otherwise',
)
