import { stringify } from 'yaml'
import { withoutPlaced } from '../../config/placed-settings.ts'
import type { Registry } from '../../config/registry.ts'
import { speaksToClients, speaksToUpstreams } from '../../config/speaking.ts'
import { parametersOf } from '../../actions/list-query.ts'
import { accessOf } from '../../spec/access.ts'
import type { AnyAction } from '../../spec/action.ts'
import type { AnyClientCodec, AnyUpstreamCodec, EitherCodec } from '../../spec/codec.ts'
import { asText } from '../../spec/json.ts'
import type { JsonObject } from '../../spec/json.ts'
import type { Plugin } from '../../spec/plugin.ts'
import type { AnyProvider } from '../../spec/provider.ts'
import type { Offer } from '../../spec/open-provider.ts'
import type { AnyRecord } from '../../spec/record.ts'
import type { AnyService } from '../../spec/service.ts'
import type { AnyGuard } from '../../spec/guard.ts'
import type { AnySignal } from '../../spec/signal.ts'
import { isFields } from '../../pipeline/fields.ts'
import type { AnySlot, SlotFields } from '../../spec/slot.ts'
import type { AnyStage, Duty, Payment } from '../../spec/stage.ts'
import { fieldsOf } from './fields.ts'
import type { Kind } from '../kinds.ts'
import { retryMeaning, toldCodes } from '../codes.ts'
import type { ToldCode } from '../codes.ts'
import type { Field } from './fields.ts'
import { exampleOf } from '../../openapi/example-of.ts'
import type { Schema } from '../../openapi/example-of.ts'

/** A component as lists and the reference show it. */
export interface Component {
  readonly kind: Kind
  readonly name: string
  readonly summary: string
  /** Further members in the JSON of a list. */
  readonly listed?: Readonly<Record<string, string | number>>
  /** Further facts: a label and a value each. */
  readonly facts: readonly (readonly [string, string])[]
  readonly fields: readonly Field[]
  /** An example in YAML. */
  readonly example: string
}

/** How stable a component is, for lists and for its facts. */
function stabilityOf(component: object, { stable }: Registry) {
  const stability = stable.has(component) ? 'stable' : 'beta'
  return { listed: { stability }, facts: [['stability', stability]] } as const
}

/** The components of a kind, by name. */
export function componentsOf(kind: Kind, registry: Registry): Component[] {
  const described: Record<Kind, () => Component[]> = {
    stages: () => [...registry.stages.values()].map((stage) => describeStage(stage, registry)),
    actions: () => [...registry.actions.values()].map((action) => describeAction(action, registry)),
    slots: () => [...registry.slots.values()].map((slot) => describeSlot(slot, registry)),
    codecs: () => [...registry.codecs.values()].map(describeCodec),
    providers: () => [...registry.providers.values()].map((provider) => describeProvider(provider, registry)),
    signals: () => [...registry.signals.values()].map(describeSignal),
    guards: () => [...registry.guards.values()].map((guard) => describeGuard(guard, registry)),
    services: () => [...registry.services.values()].map((service) => describeService(service, registry)),
    records: () => [...registry.records.values()].map(describeRecord),
    plugins: () => [...registry.plugins.values()].map(describePlugin),
    errors: () => toldCodes(registry).map(describeError),
  }
  return described[kind]().sort((left, right) => left.name.localeCompare(right.name))
}

function describeStage(stage: AnyStage, registry: Registry): Component {
  const { listed, facts } = stabilityOf(stage, registry)
  const {
    name,
    summary,
    config,
    needs,
    reads = [],
    provides,
    gives = [],
    settles = [],
    owes = [],
    pays = [],
    body,
    uses = [],
    timeout,
  } = stage
  const schema = config as Schema
  const written = exampleOf(schema)
  return {
    kind: 'stages',
    name,
    summary,
    listed,
    facts: [
      ...facts,
      ...[
        slots('needs', needs),
        slots('reads', reads),
        slots('gives', provides),
        slots('may give', gives),
        slots('settles with', settles),
        slots('owes', owes.map(dutyText)),
        slots('pays', pays.map(paymentText)),
        slots('takes a body of', Object.keys((body as Schema | undefined)?.properties ?? {})),
        slots('uses', uses),
        within(timeout),
      ].flat(),
    ],
    fields: fieldsOf(schema),
    example: stringify([Object.keys(written).length === 0 ? name : { [name]: written }]),
  }
}

/** What a stage pays, with the configuration that it needs for that. */
function paymentText(payment: Payment): string {
  if (typeof payment === 'string') return payment
  const given = Object.entries(payment.given).map(([field, value]) => `${field}: ${asText(value)}`)
  return `${payment.duty} (${given.join(', ')})`
}

function describeAction(action: AnyAction, registry: Registry): Component {
  const {
    name,
    summary,
    route,
    query,
    body,
    answer,
    status,
    errors = [],
    writes,
    stream,
    uses = [],
    timeout,
    page,
  } = action
  const { properties = {} }: { readonly properties?: object } = answer ?? {}
  const written = typeof writes === 'object' ? ('record' in writes ? writes.record : `nothing: ${writes.not}`) : writes
  const { listed, facts } = stabilityOf(action, registry)
  return {
    kind: 'actions',
    name,
    summary,
    listed: { ...listed, route, access: accessOf(action) },
    facts: [
      ...facts,
      ['route', route],
      ['access', accessOf(action)],
      ...slots('answers', Object.keys(properties)),
      ...(status === undefined ? [] : slots('status', [String(status)])),
      ...slots('streams', stream === undefined ? [] : [stream]),
      ...slots('writes', written === undefined ? [] : [written]),
      ...slots('errors', errors),
      ...slots('uses', uses),
      ...within(timeout),
      ...pageAt(name, page),
    ],
    fields: [...fieldsOf({ properties: parametersOf(query) }, '?'), ...fieldsOf((body ?? {}) as Schema)],
    example: '',
  }
}

/** Where the console shows it. */
function pageAt(name: string, page: AnyAction['page']): [string, string][] {
  return slots('page', page === undefined ? [] : [`/pages/${name}`])
}

/** A duty with its place: `limit (before)`. */
function dutyText(owed: string | Duty): string {
  if (typeof owed === 'string') return owed
  const { duty, at, while: service } = owed
  const place = at === undefined ? [] : [at === 'finally' ? 'in finally' : at]
  const facts = [...place, ...(service === undefined ? [] : [`while ${service} has other settings than its defaults`])]
  return facts.length === 0 ? duty : `${duty} (${facts.join('; ')})`
}

function within(timeout: string | undefined): [string, string][] {
  return timeout === undefined ? [] : [['within', timeout]]
}

function describeSlot({ name, summary, fields = {} }: AnySlot, { stages }: Registry): Component {
  const those = (taken: (stage: AnyStage) => readonly string[]) =>
    [...stages.values()].filter((stage) => taken(stage).includes(name)).map((stage) => stage.name)
  return {
    kind: 'slots',
    name,
    summary,
    facts: [
      slots(
        'given by',
        those(({ provides }) => provides),
      ),
      slots(
        'sometimes given by',
        those(({ gives = [] }) => gives),
      ),
      slots(
        'needed by',
        those(({ needs }) => needs),
      ),
      slots(
        'read by',
        those(({ reads = [] }) => reads),
      ),
    ].flat(),
    fields: readable(fields),
    example: '',
  }
}

/** The fields of a slot that conditions can read. */
function readable(fields: SlotFields, prefix = ''): Field[] {
  return Object.entries(fields).flatMap(([name, field]) =>
    isFields(field)
      ? readable(field, `${prefix}${name}.`)
      : [
          {
            path: `${prefix}${name}${suffixes[String(field)] ?? ''}`,
            type: typeof field === 'string' ? (words[field] ?? field) : field.join(', '),
            required: false,
            description: '',
          },
        ],
  )
}

const suffixes: Readonly<Record<string, string>> = { headers: '.<name>', texts: '.<name>' }
const words: Readonly<Record<string, string>> = {
  boolean: 'true or false',
  list: 'list of text',
  headers: 'text, by a name in lower case',
  texts: 'text, by name',
  anything: 'anything inside',
}

function slots(word: string, names: readonly string[]): [string, string][] {
  return names.length === 0 ? [] : [[word, names.join(', ')]]
}

function names(word: string, components: readonly { readonly name: string }[] = []): [string, string][] {
  return slots(
    word,
    components.map(({ name }) => name),
  )
}

function describeCodec(codec: EitherCodec): Component {
  const { protocol, operation, summary, request, events } = codec
  const clients = speaksToClients(codec)
  const upstreams = speaksToUpstreams(codec)
  const { content = 'json' }: Partial<AnyClientCodec> = clients ? codec : {}
  const { answers = 'json', traits = {} }: Partial<AnyUpstreamCodec> = upstreams ? codec : {}
  const others = clients ? (upstreams ? 'to and from' : 'to') : 'from'
  return {
    kind: 'codecs',
    name: protocol,
    summary,
    facts: [
      ['operation', operation],
      ...(clients && upstreams ? [] : ([['spoken', clients ? 'by clients alone' : 'to upstreams alone']] as const)),
      ['bodies', content === 'either' ? 'json or multipart' : content],
      ['answers', events ? `${answers}, or a stream of events` : answers],
      ['translates', request ? `${others} every other protocol of the operation` : 'no: it only meets itself'],
    ],
    fields: fieldsOf({ properties: traits }),
    // No pipeline speaks the protocol of an upstream alone.
    example: clients ? stringify({ protocol }) : '',
  }
}

function describeProvider(provider: AnyProvider, registry: Registry): Component {
  const { name, summary, config, secrets = [], uses = [] } = provider
  const schema = config as Schema
  const written = exampleOf(schema)
  const served = provider
    .offers(written)
    .map((offer) => offer.protocol ?? `${(offer as Offer).operation} in every protocol`)
  const { listed, facts } = stabilityOf(provider, registry)
  return {
    kind: 'providers',
    name,
    summary,
    listed,
    facts: [
      ...facts,
      ['serves', [...new Set(served)].join(', ')],
      ...slots('secrets', secrets),
      ...slots('uses', uses),
    ],
    fields: fieldsOf(schema),
    example: stringify({
      providers: [{ name: `my-${name.replaceAll('_', '-')}`, type: name, ...withSecrets(written, secrets) }],
    }),
  }
}

function withSecrets(config: JsonObject, secrets: readonly string[]): JsonObject {
  return Object.fromEntries(
    Object.entries(config).map(([name, value]) => [name, secrets.includes(name) ? `\${${name.toUpperCase()}}` : value]),
  )
}

function describeSignal({ name, summary }: AnySignal): Component {
  return { kind: 'signals', name, summary, facts: [], fields: [], example: '' }
}

function describeGuard(guard: AnyGuard, registry: Registry): Component {
  const { name, summary, config, secrets = [], uses = [] } = guard
  const schema = config as Schema
  const { listed, facts } = stabilityOf(guard, registry)
  return {
    kind: 'guards',
    name,
    summary,
    listed,
    facts: [...facts, ...slots('secrets', secrets), ...slots('uses', uses)],
    fields: fieldsOf(schema),
    // One that names another record would be nothing without it.
    example: JSON.stringify(config).includes('"x-names"')
      ? ''
      : stringify({
          guards: [{ name: `my-${name}`, kind: name, side: ['output'], ...withSecrets(exampleOf(schema), secrets) }],
        }),
  }
}

function describeService(service: AnyService, registry: Registry): Component {
  const { stages, actions, providers, guards, services } = registry
  const { name, summary, section, settings, uses } = service
  const { listed, facts } = stabilityOf(service, registry)
  const all = [...stages.values(), ...actions.values(), ...providers.values(), ...guards.values(), ...services.values()]
  const users = all.filter((one) => one.uses?.includes(name))
  const schema = withoutPlaced(settings as Schema)
  const written = exampleOf(schema)
  return {
    kind: 'services',
    name,
    summary,
    listed,
    facts: [...facts, ...slots('uses', uses), ...names('used by', users)],
    fields: fieldsOf(schema, `${section}.`),
    example: Object.keys(written).length === 0 ? '' : stringify({ server_config: { [section]: written } }),
  }
}

function describeRecord({ name, summary, place, schema, secrets = [], typed, page }: AnyRecord): Component {
  return {
    kind: 'records',
    name,
    summary,
    facts: [
      ...slots('declared in', [place]),
      ...slots('secrets', secrets),
      ...pageAt(name, page),
      ...(typed === undefined ? [] : slots('further fields', [`those of its type: sluice list ${typed}s`])),
    ],
    fields: fieldsOf(schema as Schema),
    example: '',
  }
}

function describePlugin(plugin: Plugin): Component {
  const { name, summary, codecs = [] } = plugin
  const protocols = codecs.map(({ protocol }) => protocol)
  return {
    kind: 'plugins',
    name,
    summary,
    facts: [
      names('stages', plugin.stages),
      names('actions', plugin.actions),
      slots('codecs', protocols),
      names('providers', plugin.providers),
      names('signals', plugin.signals),
      names('guards', plugin.guards),
      names('slots', plugin.slots),
      names('services', plugin.services),
      names('commands', plugin.commands),
      names('records', plugin.records),
    ].flat(),
    fields: [],
    example: '',
  }
}

function describeError({ code, message, from, status, type, retry, advice }: ToldCode): Component {
  const facts = [
    ['from', from],
    ['status', String(status)],
    ['type', type],
    ['retry', `${retry}: ${retryMeaning[retry]}`],
    ...(advice === '' ? [] : [['advice', advice] as const]),
  ] as const
  return {
    kind: 'errors',
    name: code,
    summary: message,
    listed: { from, status, type, retry },
    facts,
    fields: [],
    example: '',
  }
}
