import { createHmac } from 'node:crypto'
import { defineService } from '../../engine/index.ts'
import type { ConfigOf, Json, SectionReport, SettingsAround } from '../../engine/index.ts'
import { fieldFlaw } from '../../engine/kit.ts'

const count = (unit: string, description: string) =>
  ({
    type: ['integer', 'null'],
    minimum: 1,
    maximum: 1_000_000_000,
    default: null,
    'x-unit': unit,
    description,
  }) as const

const names = (description: string) =>
  ({
    type: 'array',
    maxItems: 100,
    items: { type: 'string', minLength: 1, maxLength: 256 },
    default: [],
    description,
  }) as const

const values = (description: string) => ({ type: 'object', maxProperties: 100, default: {}, description }) as const

const settings = {
  type: 'object',
  additionalProperties: false,
  description: 'Policies for requests and answers.',
  properties: {
    default_max_output_tokens: count(
      'tokens',
      'Maximum tokens of an answer, for requests without a maximum; null: none.',
    ),
    max_output_tokens: count(
      'tokens',
      'Highest maximum of the tokens of an answer; a higher one is lowered, which is a loss. Requests without a maximum get it, or what their model generates at most.',
    ),
    deny_parameters: names('Top-level fields with which a request is rejected.'),
    drop_parameters: names('Top-level fields that are removed from requests, each of which is a loss.'),
    default_parameters: values(
      'Top-level fields and their values, for requests without them whose protocol knows them and such a value; a field that none knows is for conversations.',
    ),
    override_parameters: values(
      'Top-level fields and their values, which replace those of requests; requests without them get them as by default_parameters.',
    ),
    end_user: {
      enum: ['forward', 'drop', 'hash'],
      default: 'forward',
      description:
        'What providers get of user, safety_identifier and metadata.user_id: the value, nothing, or a hash of it that only this gateway can make.',
    },
    allow_background: {
      type: 'boolean',
      default: true,
      description: 'Whether clients may ask for background responses; false: 400.',
    },
    allow_store: {
      type: 'boolean',
      default: true,
      description: 'Whether responses and chat completions may be stored; false: none is, whatever a request says.',
    },
    max_tools: count('tools', 'Most tools of a request; null: any number.'),
    max_messages: count('messages', 'Most messages or input items of a request; null: any number.'),
  },
} as const

/** The operator's policy for the parameters of requests. */
export interface Parameters {
  readonly policy: ConfigOf<typeof settings>
  /** A hash of an end user's name, always the same and of use to nobody else: 64 hexadecimal digits. */
  readonly pseudonym: (name: string) => string
}

declare module '../../engine/index.ts' {
  interface Services {
    parameters: Parameters
  }
}

type Policy = Parameters['policy']

/** Finds fields that no protocol has, and values that none accepts. */
function checkKnown(policy: Policy, report: SectionReport, codecs: SettingsAround['codecs']): void {
  const { deny_parameters: denied, drop_parameters: drops, default_parameters: defaults } = policy
  // The policy never changes a form, in which every value is a text.
  const changeable = codecs.filter(({ content = 'json' }) => content === 'json')
  const told = (path: (string | number)[], name: string, value?: Json) => {
    if (reserved.includes(name)) return
    const flaw = fieldFlaw(codecs, [name]) ?? fieldFlaw(changeable, [name], value)
    if (flaw?.kind === 'value') report(path, `"${name}": ${flaw.message}`, 'field-value', 'warning')
    if (flaw?.kind === 'unknown') report(path, `"${name}": ${flaw.message}`, 'unknown-field', 'warning')
  }
  for (const [word, names] of Object.entries({ deny_parameters: denied, drop_parameters: drops }))
    names.forEach((name, at) => told([word, at], name))
  for (const [word, fields] of Object.entries({
    default_parameters: defaults,
    override_parameters: policy.override_parameters,
  }))
    for (const [name, value] of Object.entries(fields)) told([word, name], name, value as Json)
}

/** Warns of settings of which one undoes the other. */
function checkConflicts(policy: Policy, report: SectionReport): void {
  const { deny_parameters: denied, drop_parameters: drops, default_parameters: defaults } = policy
  for (const name of Object.keys(defaults))
    if (denied.includes(name) || drops.includes(name) || Object.hasOwn(policy.override_parameters, name)) {
      const other = denied.includes(name) ? 'deny' : drops.includes(name) ? 'drop' : 'override'
      report(['default_parameters', name], `"${name}" stands in ${other}_parameters, too`, 'service', 'warning')
    }
  for (const [at, name] of drops.entries())
    if (denied.includes(name))
      report(['drop_parameters', at], `"${name}" stands in deny_parameters, too`, 'service', 'warning')
  for (const [at, name] of denied.entries())
    if (needed.includes(name))
      report(['deny_parameters', at], `refuses every request of a protocol that needs "${name}"`, 'service', 'warning')
  const { default_max_output_tokens: usual, max_output_tokens: most } = policy
  if (usual !== null && most !== null && usual > most)
    report(
      ['default_max_output_tokens'],
      `is above max_output_tokens, ${most}, and is lowered to it`,
      'service',
      'warning',
    )
}

/** Fields without which there is no request. */
const needed = ['model', 'messages', 'contents', 'input']
/** Fields that the gateway itself depends on. */
const reserved = [...needed, 'stream', '__proto__']

export default defineService({
  name: 'parameters',
  section: 'request_policy',
  summary: 'Policy for the parameters of requests.',
  settings,
  check(policy, report, _records, { codecs }) {
    const { drop_parameters: drops, default_parameters: defaults, override_parameters: overrides } = policy
    checkKnown(policy, report, codecs)
    checkConflicts(policy, report)
    for (const [index, name] of drops.entries())
      if (reserved.includes(name)) report(['drop_parameters', index], `"${name}" cannot be removed`)
    for (const [word, fields] of Object.entries({ default_parameters: defaults, override_parameters: overrides }))
      for (const name of Object.keys(fields))
        if (reserved.includes(name)) report([word, name], `"${name}" is the client's alone`)
  },
  open: (host) => ({
    configure(policy) {
      let key: Buffer | undefined
      const secret = () => (key ??= host.deriveKey('sluice end user 1'))
      const pseudonym = (name: string) => createHmac('sha256', secret()).update(name).digest('hex')
      return { view: { policy, pseudonym } }
    },
  }),
})
