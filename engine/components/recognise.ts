import type { AnyAction } from '../spec/action.ts'
import type { EitherCodec } from '../spec/codec.ts'
import type { AnyCommand } from '../spec/command.ts'
import { isDuration } from '../spec/duration.ts'
import { isObject } from '../spec/json.ts'
import type { ErrorParser, ErrorPrinter } from '../spec/error.ts'
import { contract } from '../spec/plugin.ts'
import type { Plugin } from '../spec/plugin.ts'
import type { AnyGuard } from '../spec/guard.ts'
import type { AnyProvider } from '../spec/provider.ts'
import type { AnyRecord, RecordField } from '../spec/record.ts'
import type { AnyService } from '../spec/service.ts'
import type { AnySignal } from '../spec/signal.ts'
import type { AnySlot } from '../spec/slot.ts'
import type { AnyStage, Duty } from '../spec/stage.ts'
import { structuralWords, timeoutWord } from '../config/format.ts'
import { problemOfFields } from './component-fields.ts'
import { sectionType } from '../records/sections.ts'
import { problemOfAction, undescribed } from '../actions/declarations.ts'
import type { Component } from '../config/registry.ts'
import { proveSchema } from '../config/validate.ts'

/** The component in a default export, or what is wrong with it. */
export function recognise(value: unknown): Component | { readonly problem: string } {
  const later = isObject(value) ? problemOfContract(value) : undefined
  if (later !== undefined) return later
  const found = recognised(value)
  const kind = 'problem' in found ? isObject(value) && value['kind'] : found.kind
  // A misspelled field may be why another one seems to be missing.
  const problem = isObject(value) ? (problemOfFields(kind, value) ?? problemOfStability(kind, value)) : undefined
  return problem === undefined ? found : { problem }
}

function recognised(value: unknown): Component | { readonly problem: string } {
  const shape = value as Record<string, unknown>
  if (value === undefined) return { problem: nothingExported }
  if (!isObject(value)) return { problem: nothingKnown }
  switch (shape['kind']) {
    case 'plugin':
      if (!isName(shape['name'])) return { problem: 'a plugin needs a name' }
      return problemOfErrors(shape['name'], shape['errors']) ?? { kind: 'plugin', value: value as unknown as Plugin }
    case 'stage':
      return problemOfStage(shape) ?? { kind: 'stage', value: value as unknown as AnyStage }
    case 'action':
      return problemOfAction(shape) ?? { kind: 'action', value: value as unknown as AnyAction }
    case 'provider':
      return problemOfProvider(shape) ?? { kind: 'provider', value: value as unknown as AnyProvider }
    case 'signal':
      return problemOfSignal(shape) ?? { kind: 'signal', value: value as unknown as AnySignal }
    case 'guard':
      return problemOfGuard(shape) ?? { kind: 'guard', value: value as unknown as AnyGuard }
    case 'slot':
      return isName(shape['name'])
        ? { kind: 'slot', value: value as unknown as AnySlot }
        : { problem: 'a slot needs a name of lower-case letters, digits, "-", "_" and "."' }
    case 'command':
      return problemOfCommand(shape) ?? { kind: 'command', value: value as unknown as AnyCommand }
    case 'service':
      return problemOfService(shape) ?? { kind: 'service', value: value as unknown as AnyService }
    case 'record':
      return problemOfRecord(shape) ?? { kind: 'record', value: value as unknown as AnyRecord }
    case undefined:
      return problemOfCodec(shape) ?? { kind: 'codec', value: value as unknown as EitherCodec }
    default:
      return { problem: `"${String(shape['kind'])}" is not a kind of component` }
  }
}

const nothingExported = 'it has no default export; write its components after "export default"'

const nothingKnown =
  'the default export is neither a plugin, a stage, an action, a codec, a provider, a signal, a guard, a slot, a service, a command nor a record'

type Problem = { readonly problem: string } | undefined

/** What is wrong with the version that a plugin was written for. A later one may have fields that are unknown here. */
function problemOfContract({ kind, name, contract: needed = 1 }: Record<string, unknown>): Problem {
  if (kind !== 'plugin' || (Number.isInteger(needed) && Number(needed) >= 1 && Number(needed) <= contract))
    return undefined
  if (Number.isInteger(needed) && Number(needed) > contract)
    return { problem: `plugin "${String(name)}": it needs contract ${String(needed)} of Sluice; this is ${contract}` }
  return { problem: `plugin "${String(name)}": "contract" must be a whole number, such as ${contract}` }
}

/** What is wrong with how stable a component says it is. */
function problemOfStability(kind: unknown, { name, stability = 'beta' }: Record<string, unknown>): string | undefined {
  if (stability === 'beta' || stability === 'stable') return undefined
  return `${String(kind)} "${String(name)}": "stability" must be stable or beta`
}

function problemOfStage(stage: Record<string, unknown>): Problem {
  const name = stage['name']
  if (!isName(name)) return { problem: 'a stage needs a name of lower-case letters, digits, "-", "_" and "."' }
  if ([...structuralWords, timeoutWord].some((word) => word === name))
    return { problem: `a stage cannot be named "${name}": pipelines use that word themselves` }
  for (const list of ['needs', 'provides'])
    if (!isNames(stage[list])) return { problem: `stage "${name}": "${list}" must be a list of slots` }
  for (const list of ['reads', 'gives', 'settles'])
    if (stage[list] !== undefined && !isNames(stage[list]))
      return { problem: `stage "${name}": "${list}" must be a list of slots` }
  if (stage['uses'] !== undefined && !isNames(stage['uses']))
    return { problem: `stage "${name}": "uses" must be a list of services` }
  if (stage['pays'] !== undefined && !isDuties(stage['pays'], isPayment))
    return { problem: `stage "${name}": "pays" must be a list of duties, such as "limit"` }
  if (stage['owes'] !== undefined && !isDuties(stage['owes'], isDuty))
    return {
      problem: `stage "${name}": "owes" must be a list of duties, such as "limit" or { duty: "limit", at: "before" }`,
    }
  if (stage['timeout'] !== undefined && !isDuration(stage['timeout']))
    return { problem: `stage "${name}": "timeout" must be a duration such as 250ms, 60s or 24h` }
  const body = stage['body']
  if (body !== undefined && typeof body !== 'function' && (!isObject(body) || body['type'] !== 'object'))
    return { problem: `stage "${name}": "body" must be the schema of an object, or a function that makes one` }
  if (typeof stage['build'] !== 'function') return { problem: `stage "${name}" has no build function` }
  return problemOfForm(`stage "${name}"`, stage['config'])
}

function isDuties(list: unknown, isOne: (value: unknown) => boolean): boolean {
  return Array.isArray(list) && list.every(isOne)
}

/** What each field of a duty may hold. */
const dutyFields: Readonly<Record<keyof Duty, (value: unknown) => boolean>> = {
  duty: isName,
  at: (value) => value === 'before' || value === 'after' || value === 'finally',
  of: isName,
  ahead: (value) => isDuties(value, isName),
  with: isName,
  while: isName,
  unless: (value) => typeof value === 'function',
}

function isDuty(value: unknown): boolean {
  if (!isObject(value)) return isName(value)
  const isRight = ([field, inner]: [string, unknown]) =>
    Object.hasOwn(dutyFields, field) && dutyFields[field as keyof Duty](inner)
  return value['duty'] !== undefined && Object.entries(value).every(isRight)
}

function problemOfProvider(provider: Record<string, unknown>): Problem {
  const name = provider['name']
  if (!isName(name)) return { problem: 'a provider needs a name of lower-case letters, digits, "-", "_" and "."' }
  for (const part of ['offers', 'open'])
    if (typeof provider[part] !== 'function') return { problem: `provider "${name}" has no ${part} function` }
  if (provider['uses'] !== undefined && !isNames(provider['uses']))
    return { problem: `provider "${name}": "uses" must be a list of services` }
  const { properties } = (provider['config'] ?? {}) as { properties?: object }
  for (const taken of ['name', 'type'])
    if (Object.hasOwn(properties ?? {}, taken))
      return { problem: `provider "${name}": the field "${taken}" belongs to every provider` }
  return problemOfForm(`provider "${name}"`, provider['config'])
}

function isPayment(value: unknown): boolean {
  return isName(value) || (isObject(value) && isName(value['duty']) && isObject(value['given']))
}

function problemOfGuard(guard: Record<string, unknown>): Problem {
  const { name, uses, build, config } = guard
  if (!isName(name)) return { problem: 'a guard needs a name of lower-case letters, digits, "-", "_" and "."' }
  if (typeof build !== 'function') return { problem: `guard "${name}" has no build function` }
  if (uses !== undefined && !isNames(uses)) return { problem: `guard "${name}": "uses" must be a list of services` }
  return problemOfForm(`guard "${name}"`, config)
}

function problemOfSignal({ name, module }: Record<string, unknown>): Problem {
  if (!isName(name)) return { problem: 'a signal needs a name of lower-case letters, digits, "-", "_" and "."' }
  if (!(module instanceof URL)) return { problem: `signal "${name}": "module" must be the URL of its module` }
  return undefined
}

const fieldsBeside: Readonly<Record<RecordField, true>> = {
  secrets: true,
  source: true,
  declared_at: true,
  version: true,
  created_at: true,
  updated_at: true,
  problem: true,
}

function problemOfRecord({ name, place, schema, typed, check }: Record<string, unknown>): Problem {
  if (!isWord(name)) return { problem: 'a record needs a name of lower-case letters, digits and "_"' }
  const owner = `record "${name}"`
  if (name === sectionType) return { problem: `${owner}: this name is reserved for the sections of server_config` }
  if (!isWord(place)) return { problem: `${owner}: "place" must be lower-case letters, digits and "_"` }
  if (check !== undefined && typeof check !== 'function') return { problem: `${owner}: "check" must be a function` }
  const { properties, required } = (schema ?? {}) as { properties?: Record<string, unknown>; required?: unknown }
  const named = properties?.['name'] as { type?: unknown } | undefined
  if (named?.type !== 'string' || !Array.isArray(required) || !required.includes('name'))
    return { problem: `${owner}: its schema must require a text "name"` }
  const taken = Object.keys(properties ?? {}).find((field) => Object.hasOwn(fieldsBeside, field))
  if (taken !== undefined) return { problem: `${owner}: the field "${taken}" belongs to every record` }
  return problemOfForm(owner, schema, typed !== undefined)
}

function problemOfService(service: Record<string, unknown>): Problem {
  const { name, section, uses, open, settings, migrations } = service
  if (!isWord(name)) return { problem: 'a service needs a name of lower-case letters, digits and "_"' }
  const owner = `service "${name}"`
  if (!isWord(section)) return { problem: `${owner}: "section" must be lower-case letters, digits and "_"` }
  if (!isNames(uses)) return { problem: `${owner}: "uses" must be a list of services` }
  if (open !== undefined && typeof open !== 'function') return { problem: `${owner}: "open" must be a function` }
  return problemOfMigrations(owner, migrations) ?? problemOfForm(owner, settings, false, 'settings')
}

/** First words of the engine's own commands, and options of every command. */
export const ownCommands: readonly string[] = [
  'serve',
  'check',
  'init',
  'explain',
  'list',
  'schema',
  'test',
  'new',
  'secret',
  'export',
  'health',
  'help',
]
const ownOptions = ['config', 'json', 'help', 'version']

function problemOfCommand(command: Record<string, unknown>): Problem {
  const { name, uses, run, options } = command
  if (typeof name !== 'string' || !/^[a-z][a-z0-9-]*( [a-z][a-z0-9-]*)?$/.test(name))
    return { problem: 'a command needs a name of one word or two, of lower-case letters, digits and "-"' }
  const owner = `command "${name}"`
  if (ownCommands.includes(name.split(' ')[0] ?? ''))
    return { problem: `${owner}: the engine has a command with this name already` }
  if (!isNames(uses)) return { problem: `${owner}: "uses" must be a list of services` }
  if (typeof run !== 'function') return { problem: `${owner} has no run function` }
  const fields = isObject(options) && isObject(options['properties']) ? Object.keys(options['properties']) : []
  const taken = fields.find((field) => ownOptions.includes(field))
  if (taken !== undefined) return { problem: `${owner}: every command has an option "${taken}" already` }
  const places = command['arguments']
  if (!isNames(places) || !(places as string[]).every((place) => fields.includes(place)))
    return { problem: `${owner}: "arguments" must be a list of its options` }
  return problemOfForm(owner, options, false, 'options')
}

function problemOfMigrations(owner: string, migrations: unknown): Problem {
  const list = Array.isArray(migrations) ? (migrations as unknown[]) : [undefined]
  const names = list.map((one) => (isObject(one) && typeof one['up'] === 'function' ? one['name'] : undefined))
  if (!names.every((name) => typeof name === 'string' && name !== ''))
    return { problem: `${owner}: "migrations" must be a list, each with a name and a function "up"` }
  if (new Set(names).size < names.length) return { problem: `${owner}: two migrations have the same name` }
  return undefined
}

function problemOfCodec(codec: Record<string, unknown>): Problem {
  const protocol = codec['protocol']
  if (!isName(protocol) || typeof codec['operation'] !== 'string') return { problem: nothingKnown }
  const owner = `codec "${protocol}"`
  const error = codec['error']
  if (!isObject(error)) return { problem: `${owner} lacks "error"` }
  const clients = typeof codec['head'] === 'function'
  const upstreams = typeof (error as Partial<ErrorParser>).parse === 'function'
  if (!clients && !upstreams)
    return {
      problem: `${owner} serves neither clients nor upstreams: it needs "head" for clients, or "parse" of "error" for upstreams`,
    }
  if (clients && typeof (error as Partial<ErrorPrinter>).print !== 'function')
    return { problem: `${owner} has "head" but cannot print errors for its clients` }
  if (clients && !isObject(codec['schema']))
    return { problem: `${owner} has "head" but lacks the "schema" of its clients' bodies` }
  if (clients && upstreams && !isObject(codec['meter']))
    return { problem: `${owner} serves clients and upstreams, so it needs "meter" for answers that it passes on` }
  return undefined
}

/** Checks that a schema describes a closed object, without examining all of it. */
function problemOfForm(owner: string, schema: unknown, open = false, word = 'config'): Problem {
  if (!isObject(schema) || schema['type'] !== 'object' || (!open && schema['additionalProperties'] !== false))
    return { problem: `${owner}: its ${word} must be an object schema with additionalProperties: false` }
  return undefined
}

/** The mistake in the schemas that a component declares. Each schema takes milliseconds to check. */
export function problemOfSchemas({ kind, value }: Component): Problem {
  switch (kind) {
    case 'stage': {
      const owner = `stage "${value.name}"`
      return problemOfSchema(owner, 'config', value.config) ?? problemOfSchema(owner, 'body', value.body)
    }
    case 'action': {
      const owner = `action "${value.name}"`
      return (
        problemOfSchema(owner, 'body', value.body) ??
        problemOfSchema(owner, 'answer', value.answer) ??
        undescribed(owner, value)
      )
    }
    case 'guard':
      return problemOfSchema(`guard "${value.name}"`, 'config', value.config)
    case 'provider':
      return problemOfSchema(`provider "${value.name}"`, 'config', value.config)
    case 'service':
      return problemOfSchema(`service "${value.name}"`, 'settings', value.settings)
    case 'command':
      return problemOfSchema(`command "${value.name}"`, 'options', value.options)
    case 'record':
      return problemOfSchema(`record "${value.name}"`, 'config', value.schema)
    default:
      return undefined
  }
}

function problemOfSchema(owner: string, word: string, schema: unknown): Problem {
  try {
    if (isObject(schema)) proveSchema(schema)
    return undefined
  } catch (error) {
    return { problem: `${owner}: its ${word} schema is wrong: ${(error as Error).message}` }
  }
}

function isName(value: unknown): value is string {
  return typeof value === 'string' && /^[a-z][a-z0-9._-]*$/.test(value)
}

/** Whether a value can be the name of a table, a section or a place. */
function isWord(value: unknown): value is string {
  return typeof value === 'string' && /^[a-z][a-z0-9_]*$/.test(value)
}

function isNames(value: unknown): boolean {
  return Array.isArray(value) && value.every((item) => typeof item === 'string')
}

/** What is wrong with the error codes of a plugin. */
function problemOfErrors(plugin: string, rows: unknown = {}): { readonly problem: string } | undefined {
  const owner = `plugin "${plugin}"`
  if (!isObject(rows)) return { problem: `${owner}: "errors" must be made by defineErrors` }
  for (const [code, one] of Object.entries(rows)) {
    if (!/^[a-z][a-z0-9_]*$/.test(code))
      return { problem: `${owner}: the error code "${code}" must be of lower-case letters, digits and "_"` }
    const { status, message, retry = 'never' } = isObject(one) ? one : {}
    if (typeof status !== 'number' || !Number.isInteger(status) || status < 400 || status > 599)
      return { problem: `${owner}: the error code "${code}" needs a "status" from 400 to 599` }
    if (typeof message !== 'string' || message === '')
      return { problem: `${owner}: the error code "${code}" needs a "message"` }
    if (retry !== 'never' && retry !== 'same' && retry !== 'other')
      return { problem: `${owner}: "retry" of the error code "${code}" must be never, same or other` }
  }
  return undefined
}
