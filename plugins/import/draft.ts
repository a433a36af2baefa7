import { stringify } from 'yaml'
import type { Json, JsonObject } from '../../engine/index.ts'
import { isVirtual, mapTexts } from '../../engine/kit.ts'
import type { Report } from './report.ts'
import { isHarmless, isSecretAddress, isSecretName } from './secrets.ts'
import { textOf } from './tree.ts'
import type { Node } from './tree.ts'

/** A provider that is being made. */
export interface DraftProvider {
  readonly name: string
  readonly record: Record<string, Json>
  /** Protocols that its models need. */
  readonly needs: Set<string>
}

/** A place of a model that is being made. */
export interface DraftPlace {
  readonly provider: string
  readonly upstream: string
  weight?: number
}

/** A model that is being made. */
export interface DraftModel {
  readonly name: string
  readonly places: DraftPlace[]
  readonly aliases: string[]
  readonly fallbacks: string[]
  /** Further fields of its record. */
  readonly fields: Record<string, Json>
}

/** How LiteLLM names a variable. */
export const litellmShape = /^os\.environ\/(\S+)$/

/** The name of a variable in LiteLLM's way of writing; undefined: it is none. */
export function litellmVariable(text: string): string | undefined {
  const [, name] = litellmShape.exec(text) ?? []
  return name === undefined ? undefined : variableNamed(name)
}

/** A variable that nobody sets. With it, a text is more than a variable in another way of writing. */
export const asText = 'SLUICE_AS_TEXT'

/** Variables of the gateway itself, which nothing that is imported stands for. */
export const ownVariables: ReadonlySet<string> = new Set([
  'DATABASE_URL',
  'REDIS_URL',
  'SLUICE_SECRET',
  'HOST',
  'PORT',
  'LOG_LEVEL',
  asText,
])

/**
 * The variable that a text is as shells, templates and other programs write it, also with a default. Other gateways take
 * it for the secret itself, which none can be. Undefined: it is a text.
 */
export function meantVariable(text: string): string | undefined {
  return /^\$\{([A-Za-z_]\w*)(?::?[-?][^}]*)?\}$/.exec(text)?.[1]
}

/** A text that is nothing but a variable in another way of writing, which a configuration file of the gateway refuses. */
const bareVariable =
  /^(?:\$(?:env:)?|os\.environ\/|os\.environ\[?['"]?|process\.env\.|env[.:/]|%|\{\{ ?(?:env\.)?)([A-Z][A-Z0-9_]*)(?:['"]?\]|%| ?\}\})?$/

/** The variable that a text names in such a way; undefined: it names none. */
export function bareName(text: string): string | undefined {
  return bareVariable.exec(text)?.[1]
}

/** Whether a variable stands in a text as shells write it. */
export function hasVariable(text: string): boolean {
  return meantVariable(text) !== undefined || /\$\{[A-Za-z_]\w{0,128}(?::?[-?][^}]{0,256})?\}/.test(text)
}

/** A name that a variable may have here: the given one, or one that is made of it. */
export function variableNamed(name: string): string {
  return name.replaceAll(/\W+/g, '_').replace(/^(?=\d)/, '_')
}

/** The configuration that is being made. */
export class Draft {
  readonly providers = new Map<string, DraftProvider>()
  readonly models = new Map<string, DraftModel>()
  readonly mcpServers: JsonObject[] = []
  readonly apiKeys: JsonObject[] = []
  readonly guards: JsonObject[] = []
  /** Sections of `server_config`, by dotted path. */
  readonly settings = new Map<string, Json>()
  /** Own pipelines by their file names. */
  readonly pipelines = new Map<string, string>()
  /** What goes into `.env`: secrets that stood in the files, and variables that they set. */
  readonly environment = new Map<string, string>()
  /** Every variable that the configuration reads. */
  readonly variables = new Set<string>()
  /** Names that no secret may get, because something else has them. */
  readonly reserved = new Set<string>()
  readonly #secrets = new Map<string, string>()
  readonly #variableOf: (text: string) => string | undefined
  readonly #report: Pick<Report, 'changed'>

  /** @param variableOf the variable that a text of the files stands for; undefined: it is a text */
  constructor(variableOf: (text: string) => string | undefined, report: Pick<Report, 'changed'>) {
    this.#variableOf = variableOf
    this.#report = report
  }

  /** The variable that a text stands for, or is meant to; undefined: it is a text. */
  variableIn(text: string): string | undefined {
    return this.#variableOf(text) ?? meantVariable(text)
  }

  /** A variable, for a file of the gateway. */
  variable(name: string): string {
    this.variables.add(name)
    return `\${${name}}`
  }

  /** A text, for a file of the gateway; one that stands for a variable becomes that. */
  text(node: Node): string {
    const given = textOf(node) ?? ''
    const variable = this.#variableOf(given)
    if (variable !== undefined) return this.variable(variable)
    const meant = bareName(given)
    if (meant !== undefined)
      this.#report.changed(node, `is taken as it is; where a variable is meant, write \${${meant}}`)
    return escaped(given)
  }

  /** Whether a value stands in a variable. */
  isVariable(node: Node | undefined): boolean {
    return this.#variableOf(textOf(node) ?? '') !== undefined
  }

  /** Whether a value may be the key of a provider, which has no spaces. A variable may, however it is written. */
  isKey(node: Node): boolean {
    const given = textOf(node) ?? ''
    return this.variableIn(given) !== undefined || /^[\x21-\x7e]+$/.test(given)
  }

  /** A secret as a variable. One that stands in the file gets a variable of this name, or the next free one. */
  secret(node: Node, wanted: string): string {
    const given = textOf(node) ?? ''
    const variable = this.#variableOf(given)
    return variable === undefined ? this.#kept(node, given, wanted) : this.variable(variable)
  }

  /** A secret in a value. One with a variable in it is none, which is told. */
  #kept(node: Node, secret: string, wanted: string): string {
    if (!hasVariable(secret)) return this.variable(this.keep(secret, wanted))
    const meant = meantVariable(secret)
    const isOwn = meant !== undefined && ownVariables.has(meant)
    const free = meant === undefined || isOwn ? this.#freeVariable(wanted) : meant
    const why = isOwn ? 'stands for a variable of the gateway itself' : 'stands for a variable here'
    this.#report.changed(node, `${meant ? why : 'has a variable in it, which is not put in'}: set ${free}`)
    return this.variable(free)
  }

  /** A value of a name, such as that of a header: as a variable, unless it is plainly no secret. */
  hidden(node: Node, name: string, wanted: string): string {
    const given = textOf(node) ?? ''
    const isOpen = given === '' || (!isSecretName(name) && isHarmless(given))
    return isOpen ? this.text(node) : this.secret(node, wanted)
  }

  /** An address: as a variable if it has credentials. */
  address(node: Node, wanted: string): string {
    return isSecretAddress(textOf(node) ?? '') ? this.secret(node, wanted) : this.text(node)
  }

  /** A program. One with spaces has arguments in it, which may be secrets. */
  command(node: Node, wanted: string): string {
    return /\s/.test(textOf(node) ?? '') ? this.hidden(node, '', `${wanted}_command`) : this.text(node)
  }

  /** Arguments of a program. Those that follow the name of a secret, or may be one, become variables. */
  words(nodes: readonly Node[], wanted: string): readonly string[] {
    return nodes.map((node, index) => {
      const given = textOf(node) ?? ''
      const [, before = '', name = '', value = ''] = /^((-{0,2}[\w-]+)=)(.+)$/s.exec(given) ?? []
      if (before !== '') {
        const isOpen = !isSecretName(name) && isHarmless(value)
        return before + (isOpen ? escaped(value) : this.#kept(node, value, `${wanted}_${name}`))
      }
      if (/^-{1,2}[a-z][a-z-]*$/i.test(given) && isHarmless(given)) return this.text(node)
      const option = textOf(nodes[index - 1]) ?? ''
      return this.hidden(node, option.startsWith('-') ? option : '', `${wanted}_argument`)
    })
  }

  /** Puts a secret into `.env`. Returns its variable, which is the same for the same secret. */
  keep(secret: string, wanted: string): string {
    const known = this.#secrets.get(`${wanted}\n${secret}`)
    if (known !== undefined) return known
    const free = this.#freeVariable(wanted)
    this.#secrets.set(`${wanted}\n${secret}`, free)
    this.environment.set(free, secret)
    return free
  }

  /** A variable that somebody has to set, because what stands in the file is of no use. */
  unset(wanted: string): string {
    return this.variable(this.#freeVariable(wanted))
  }

  /** The provider with these fields, made if there is none; its name is that of its vendor. */
  provider(vendor: string, record: Record<string, Json>): DraftProvider {
    const key = JSON.stringify([vendor, record])
    const known = this.providers.get(key)
    if (known) return known
    const base = vendor.replaceAll(/[\s_]+/g, '-')
    const taken = new Set([...this.providers.values()].map(({ name }) => name))
    const made = { name: freeName(base, taken), record, needs: new Set<string>() }
    this.providers.set(key, made)
    return made
  }

  /** The model of a name, made if there is none. */
  model(name: string): DraftModel {
    const known = this.models.get(name)
    if (known) return known
    const made: DraftModel = { name, places: [], aliases: [], fallbacks: [], fields: {} }
    this.models.set(name, made)
    return made
  }

  /** A name that a model may have: without spaces, and none of the virtual models. */
  modelName(given: string): string {
    const name = given.trim().replaceAll(/\s+/g, '-').slice(0, 256) || 'model'
    return isVirtual(name) ? `${name}-model` : name
  }

  /** Sets a setting unless something has set it. Returns whether it did. */
  set(path: string, value: Json): boolean {
    if (this.settings.has(path)) return false
    this.settings.set(path, value)
    return true
  }

  /** The configuration file. The same input gives the same bytes. */
  toYaml(from: string): string {
    const document: Record<string, Json> = {
      providers: [...this.providers.values()].map(({ name, record }) => ({ name, ...record })),
      models: [...this.models.values()].filter(({ places }) => places.length > 0).map(modelRecord),
      ...(this.mcpServers.length > 0 ? { mcp_servers: this.mcpServers } : {}),
      ...(this.guards.length > 0 ? { guards: this.guards } : {}),
      ...(this.apiKeys.length > 0 ? { api_keys: this.apiKeys } : {}),
      ...(this.settings.size > 0 ? { server_config: this.#sections() } : {}),
    }
    const text = stringify(document, { lineWidth: 0, aliasDuplicateObjects: false })
    return [`# Made of ${from} by "sluice import". What differs: ../import-report.md`, text].join('\n')
  }

  #freeVariable(wanted: string): string {
    const name = wanted
      .toUpperCase()
      .replaceAll(/[^A-Z0-9]+/g, '_')
      .replace(/^(?=\d)/, '_')
    const isFree = (one: string) => !this.reserved.has(one) && !this.environment.has(one)
    let free = name
    for (let number = 2; !isFree(free); number += 1) free = `${name}_${number}`
    return free
  }

  #sections(): JsonObject {
    const sections: Record<string, Json> = {}
    for (const [path, value] of [...this.settings].toSorted(([one], [other]) => (one < other ? -1 : 1))) {
      const steps = path.split('.')
      const last = steps.pop() ?? ''
      const place = steps.reduce<Record<string, Json>>(
        (inside, step) => (inside[step] ??= {}) as Record<string, Json>,
        sections,
      )
      place[last] = value
    }
    return sections
  }
}

/** A text that a configuration file takes as it is, even one that is nothing but a variable of another program. */
export function escaped(text: string): string {
  return bareName(text) === undefined ? text.replaceAll('${', () => '$${') : `\${${asText}:-}${text}`
}

/** A value whose texts a configuration file takes as they are. */
export function escapedIn(value: Json): Json {
  return mapTexts(value, escaped)
}

/** A name that is not taken: the wanted one, or with the next number. */
export function freeName(wanted: string, taken: ReadonlySet<string>): string {
  if (!taken.has(wanted)) return wanted
  let number = 2
  while (taken.has(`${wanted}-${number}`)) number += 1
  return `${wanted}-${number}`
}

function modelRecord({ name, places, aliases, fallbacks, fields }: DraftModel): JsonObject {
  const upstreamOf = ({ upstream }: DraftPlace) =>
    upstream === name || (name.endsWith('*') && upstream === '*') ? {} : { upstream_model: escaped(upstream) }
  const [first, ...others] = places
  const one = first === undefined ? {} : { provider: first.provider, ...upstreamOf(first) }
  // The own place of a model has no weight.
  const several = places.map((place) => ({
    provider: place.provider,
    upstream_model: escaped(place.upstream),
    ...(place.weight === undefined ? {} : { weight: place.weight }),
  }))
  return {
    name: escaped(name),
    ...(others.length === 0 ? one : { deployments: several }),
    ...(aliases.length > 0 ? { aliases: aliases.map(escaped) } : {}),
    ...fields,
    ...(fallbacks.length > 0 ? { fallbacks: fallbacks.map(escaped) } : {}),
  }
}
