import { access, chmod, mkdir, writeFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { isMap, parseDocument } from 'yaml'
import type { Document } from 'yaml'
import { defaultConfigFile } from '../config/shipped.ts'
import type { Registry } from '../config/registry.ts'
import { loadConfiguration } from '../live/load-configuration.ts'
import type { Configuration } from '../records/configuration.ts'
import { secretNames } from '../records/secrets.ts'
import { sectionType, secretsOfSetting } from '../records/sections.ts'
import { flat, readable } from '../records/stored-records.ts'
import { credentialsOf, isPlain } from '../secrets/redaction.ts'
import { isObject, mapTexts } from '../spec/json.ts'
import type { Json, JsonObject } from '../spec/json.ts'
import type { StoredRecord } from '../store/records.ts'
import { printDiagnostic } from '../config/diagnostics.ts'
import { printJson } from '../kit/text.ts'
import { withServices } from './plugin-command.ts'
import type { CommonOptions, Terminal } from './terminal.ts'

interface ExportOptions extends CommonOptions {
  /** The folder to write into; absent: the file is printed. */
  readonly out?: string
  readonly force?: true
}

type Steps = readonly (string | number)[]

/**
 * Exports the configuration file together with the stored records and sections as one file, in which secrets are
 * variables. Returns the exit code: 1 if a stored record cannot be read, or a file would be replaced.
 */
export function exportConfig(options: ExportOptions, terminal: Terminal): Promise<number> {
  const nothing = () => ({ uses: [], pipelines: [] })
  return withServices(nothing, options, terminal, async (_found, { stores }) => {
    const { environment, folder: root } = terminal
    const loaded = await loadConfiguration({ file: options.config, root, environment })
    const { records } = await stores.records.read()
    const unread = records.map((record) => readable(record).finding).filter((finding) => finding !== undefined)
    if (unread.length > 0) {
      unread.forEach((finding) => terminal.error(printDiagnostic(finding)))
      return 1
    }
    const made = exported(loaded, records)
    if (options.out !== undefined) return writeInto(resolve(root, options.out), made, options, terminal)
    const variables = [...made.variables.keys()]
    if (options.json) terminal.out(printJson({ file: made.text, variables }))
    else terminal.out(made.text.trimEnd())
    if (variables.length > 0)
      terminal.error(`Variables with secrets that stood in the file or the database: ${variables.join(', ')}`)
    terminal.error('API keys and members of the database are not part of it.')
    return 0
  })
}

interface Exported {
  readonly text: string
  /** The secrets, by the variables in whose place they stood. */
  readonly variables: ReadonlyMap<string, string>
}

/** The one file, and what was taken out of it. */
function exported({ source, registry }: Configuration, stored: readonly StoredRecord[]): Exported {
  const given = source.textOf?.([]) ?? ''
  const document = parseDocument(given.trim() === '' ? '{}' : given)
  if (!isMap(document.contents)) document.contents = document.createNode({}) as never
  const variables = new Variables(given)
  const value = (document.toJS() ?? {}) as JsonObject
  const hide =
    (place: Steps, wanted: string): Hear =>
    (path, text, word) =>
      document.setIn([...place, ...path], variables.beside(text, `${wanted}_${word}`))
  for (const type of registry.records.values()) {
    const list = value[type.place]
    if (!Array.isArray(list)) continue
    for (const [index, record] of (list as readonly Json[]).entries())
      if (isObject(record))
        hideIn(record, secretNames(type, record, registry) ?? new Set(), hide([type.place, index], nameOf(record)))
  }
  for (const [name, setting] of Object.entries(value))
    if (isObject(setting) && name !== 'server_config') hideIn(setting, new Set(), hide([name], name))
  const sections = value['server_config']
  if (isObject(sections))
    for (const [name, section] of Object.entries(sections))
      if (isObject(section)) hideSection(name, section, registry, hide(['server_config', name], name))
  for (const record of stored) addStored(document, record, registry, variables)
  return { text: document.toString({ lineWidth: 0 }), variables: variables.all }
}

function addStored(document: Document, record: StoredRecord, registry: Registry, variables: Variables): void {
  const { type: word, name, value: given = {} } = record
  const value = mapTexts(given, escaped) as JsonObject
  if (word === sectionType) {
    // That of the file counts.
    if (document.hasIn(['server_config', name])) return
    const section = structuredClone(value)
    hideSection(name, value, registry, (path, text, field) =>
      putIn(section, path, variables.of(unescaped(text), `${name}_${field}`)),
    )
    return document.setIn(['server_config', name], document.createNode(section))
  }
  const type = registry.records.get(word)
  if (type === undefined || type.holds === 'service') return
  const whole: JsonObject = { name, ...flat(type, value) }
  const open = structuredClone(whole)
  hideIn(whole, secretNames(type, whole, registry) ?? new Set(), (path, text, field) =>
    putIn(open, path, variables.of(unescaped(text), `${name}_${field}`)),
  )
  if (!document.hasIn([type.place])) document.setIn([type.place], document.createNode([]))
  document.addIn([type.place], document.createNode(open))
}

/** Gives secrets the names of variables. */
class Variables {
  readonly all = new Map<string, string>()
  readonly #taken: ReadonlySet<string>

  /** @param text the file, whose variables keep their names */
  constructor(text: string) {
    this.#taken = new Set([...text.matchAll(/\$\{(\w+)/g)].map(([, name = '']) => name))
  }

  of(secret: string, wanted: string): string {
    const base = wanted
      .toUpperCase()
      .replaceAll(/[^A-Z0-9]+/g, '_')
      .replace(/^(?=\d)/, '_')
    let name = base
    for (let number = 2; this.#taken.has(name) || (this.all.get(name) ?? secret) !== secret; number += 1)
      name = `${base}_${number}`
    this.all.set(name, secret)
    return `\${${name}}`
  }

  /** A text of the file, in which what the environment gives stays as it is. */
  beside(text: string, wanted: string): string {
    if (!hasVariable(text)) return this.of(unescaped(text), wanted)
    const literal = credentialsOf(text).filter((credential) => !hasVariable(credential))
    return literal.reduce((whole, credential) => {
      const parts = whole.split(/(\$\{[^}]{0,300}\})/)
      const hidden = (part: string) => part.replaceAll(credential, () => this.of(unescaped(credential), wanted))
      return parts.map((part) => (part.startsWith('${') ? part : hidden(part))).join('')
    }, text)
  }
}

/** Whether the environment gives a part of a text. */
function hasVariable(text: string): boolean {
  return /(?<!\$)\$\{/.test(text)
}

/** Hears of a secret: where it stands, its text, and the word for it. */
type Hear = (path: Steps, text: string, word: string) => void

/** Tells of each secret in a value: named fields, headers, and addresses with credentials. */
function hideIn(value: JsonObject, named: ReadonlySet<string>, hear: Hear, path: Steps = []): void {
  for (const [name, inner = null] of Object.entries(value)) {
    const at = [...path, name]
    if (named.has(name)) hideAll(inner, name, hear, at)
    else if (name === 'headers' && isObject(inner)) {
      for (const [header, text] of Object.entries(inner))
        if (typeof text === 'string' && !isPlain(header, text)) hear([...at, header], text, header)
    } else hideMember(inner, named, hear, at, name)
  }
}

function hideMember(value: Json, named: ReadonlySet<string>, hear: Hear, path: Steps, word: string): void {
  if (isObject(value)) hideIn(value, named, hear, path)
  else if (Array.isArray(value))
    for (const [index, item] of (value as readonly Json[]).entries())
      hideMember(item, named, hear, [...path, index], word)
  else if (typeof value === 'string' && credentialsOf(value).length > 0) hear(path, value, word)
}

function hideAll(value: Json, word: string, hear: Hear, path: Steps): void {
  if (value === null) return
  if (typeof value !== 'object') return hear(path, String(value), word)
  const entries = Array.isArray(value) ? [...(value as readonly Json[]).entries()] : Object.entries(value)
  for (const [step, inner = null] of entries)
    hideAll(inner, typeof step === 'string' ? `${word}_${step}` : word, hear, [...path, step])
}

function hideSection(name: string, section: JsonObject, { services }: Registry, hear: Hear): void {
  for (const [field, inner = null] of Object.entries(section))
    hideIn({ [field]: inner }, new Set(secretsOfSetting(name, field, services) ?? []), hear)
}

function putIn(value: JsonObject, path: Steps, text: string): void {
  const [last, ...before] = path.toReversed()
  const place = before.toReversed().reduce<unknown>((inside, step) => (inside as Record<string, unknown>)[step], value)
  ;(place as Record<string, unknown>)[last as string] = text
}

function escaped(text: string): string {
  return text.replaceAll('${', () => '$${')
}

function unescaped(text: string): string {
  return text.replaceAll('$${', '${')
}

function nameOf({ name }: JsonObject): string {
  return typeof name === 'string' ? name : 'record'
}

async function writeInto(
  folder: string,
  { text, variables }: Exported,
  { force, json }: ExportOptions,
  terminal: Terminal,
): Promise<number> {
  const lines = [...variables].map(([name, value]) => `${name}=${quoted(value)}\n`)
  const files = [
    { name: defaultConfigFile, text, mode: 0o666 },
    { name: '.env', text: lines.join(''), mode: 0o600 },
    { name: '.env.example', text: [...variables.keys()].map((name) => `${name}=\n`).join(''), mode: 0o666 },
  ]
  const present = await Promise.all(files.map(async ({ name }) => ((await exists(join(folder, name))) ? [name] : [])))
  const taken = present.flat()
  if (taken.length > 0 && force !== true) {
    terminal.error(`sluice: ${taken.join(', ')} would be replaced; nothing was written. --force replaces`)
    return 1
  }
  // A file that is replaced keeps its mode.
  if (taken.includes('.env')) await chmod(join(folder, '.env'), 0o600)
  for (const { name, text: content, mode } of files) {
    await mkdir(dirname(join(folder, name)), { recursive: true })
    await writeFile(join(folder, name), content, { mode })
  }
  if (json) terminal.out(printJson({ files: files.map(({ name }) => name), variables: [...variables.keys()] }))
  else
    terminal.out(`${files.map(({ name }) => name).join(', ')} were written. API keys and members stay in the database.`)
  return 0
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  )
}

/** A value as `.env` takes it. */
function quoted(value: string): string {
  if (/^[\w./:@%+=,~-]*$/.test(value)) return value
  const quote = ["'", '`', '"'].find((one) => !value.includes(one)) ?? "'"
  return quote + value + quote
}
