import { isDeepStrictEqual } from 'node:util'
import type { AnyClientCodec } from '../spec/codec.ts'
import type { Json, JsonObject } from '../spec/json.ts'
import type { AnyStage, KnownServices } from '../spec/stage.ts'
import { isObject } from '../spec/json.ts'
import { duration, isDuration, isTooShort, tooShort } from '../spec/duration.ts'
import type { Diagnostic, Path } from '../config/diagnostics.ts'
import type { Registry } from '../config/registry.ts'
import type { Source } from '../config/source.ts'
import { clientCodec, speaksToClients } from '../config/speaking.ts'
import { didYouMean } from '../config/suggest.ts'
import { validator } from '../config/validate.ts'
import { parseAliases } from './aliases.ts'
import type { Aliases } from './aliases.ts'
import { actStage } from '../actions/act.ts'
import {
  armFormat,
  attemptFormat,
  attemptOptions,
  pipelineFormat,
  structuralWords,
  switchFormat,
  timeoutFormat,
  timeoutWord,
} from '../config/format.ts'
import { doubtfulCondition, wrongField } from './fields.ts'
import { readCondition } from './match.ts'
import { namesIn } from './named.ts'
import { milliseconds, unwrittenOptions } from './options.ts'
import type { ActNode, Pipeline, Place, StepNode, SwitchNode } from './nodes.ts'
import { wordsOfThrown } from '../config/plugin-error.ts'
import { Refusal } from '../spec/error.ts'
import type { SectionReport } from '../spec/service.ts'
import { reportAt, within } from './nodes.ts'

/** Top-level keys of a file that holds several pipelines. */
const lists: readonly string[] = ['endpoints', 'aliases']

/** Parses a file: one pipeline, or those of its `endpoints`, and its `aliases`. Mistakes inside become diagnostics. */
export function parsePipelines(
  source: Source,
  registry: Registry,
  shipped = false,
): { pipelines: Pipeline[]; aliases: readonly Aliases[]; diagnostics: Diagnostic[] } {
  const diagnostics = source.missing.map(({ path, name }) =>
    source.report(path, 'unset-variable', `${name} is not set; set it or write \${${name}:-default}`),
  )
  if (source.value === null)
    return { pipelines: [], aliases: [], diagnostics: [source.report([], 'type', nothingInIt)] }
  const parser = new Parser(source, registry, diagnostics, shipped)
  const list = lists.find((word) => isObject(source.value) && source.value[word] !== undefined)
  if (!isObject(source.value) || list === undefined)
    return { pipelines: [parser.pipeline([], source.value) ?? []].flat(), aliases: [], diagnostics }
  for (const key of Object.keys(source.value).filter((word) => !lists.includes(word)))
    diagnostics.push(source.report([key], 'additionalProperties', `unknown field "${key}" beside "${list}"`, 'key'))
  const { endpoints = [] } = source.value
  if (!Array.isArray(endpoints)) diagnostics.push(source.report(['endpoints'], 'type', 'must be array'))
  const given = Array.isArray(endpoints) ? endpoints : []
  return {
    pipelines: given.flatMap((value: Json, index) => parser.pipeline(['endpoints', index], value) ?? []),
    aliases: parseAliases(source, diagnostics),
    diagnostics,
  }
}

const nothingInIt =
  'there is no pipeline in it; a file without any text removes the shipped file of the same name, and no other'

/** Timeout of a stage if neither the stage nor its pipeline sets one. */
export const stageTimeout = '60s'

/** Every slot that is declared or that a stage names. */
function slotVocabulary(registry: Registry): Set<string> {
  const slots = new Set(registry.slots.keys())
  for (const { needs, reads = [], provides, gives = [], settles = [] } of registry.stages.values())
    for (const slot of [...needs, ...reads, ...provides, ...gives, ...settles]) slots.add(slot)
  return slots
}

class Parser {
  readonly #source: Source
  readonly #registry: Registry
  readonly #diagnostics: Diagnostic[]
  readonly #slots: ReadonlySet<string>
  /** The codecs of the clients whose requests the pipeline may see. */
  #codecs: readonly AnyClientCodec[] = []
  readonly #shipped: boolean

  constructor(source: Source, registry: Registry, diagnostics: Diagnostic[], shipped: boolean) {
    this.#source = source
    this.#registry = registry
    this.#diagnostics = diagnostics
    this.#slots = slotVocabulary(registry)
    this.#shipped = shipped
  }

  pipeline(path: Path, given: Json): Pipeline | undefined {
    const value = this.#valid(pipelineFormat, path, given)
    if (!isObject(value)) return undefined
    const place = this.#place(path)
    const { protocol } = value
    const codecs = [...this.#registry.codecs.values()].filter(speaksToClients)
    this.#codecs = protocol === undefined ? codecs : codecs.filter((one) => one.protocol === protocol)
    if (typeof protocol === 'string' && !this.#registry.incomplete) this.#protocol([...path, 'protocol'], protocol)
    const lines = texts(value['routes'])
    const actionsAt = lines.indexOf('actions')
    if (actionsAt >= 0 && actionsAt < lines.length - 1)
      this.#report(
        [...path, 'routes', actionsAt],
        'act',
        '"actions" must stand last: it brings the routes that are left',
      )
    return {
      name: typeof value['name'] === 'string' ? value['name'] : '',
      summary: typeof value['summary'] === 'string' ? value['summary'] : '',
      ...(typeof protocol === 'string' ? { protocol } : {}),
      routes: lines
        .filter((line) => line !== 'actions')
        .map((line) => ({ method: line.split(' ', 1)[0] ?? '', path: line.slice(line.indexOf(' ') + 1) })),
      ...(actionsAt < 0 ? {} : { actionsAt }),
      relays: value['socket'] === 'relay',
      public: value['public'] === true,
      inputs: this.#inputs([...path, 'inputs'], texts(value['inputs'])),
      without: texts(value['without']),
      ...(typeof value['copied'] === 'string' ? { copied: value['copied'] } : {}),
      shipped: this.#shipped,
      stages: this.#steps([...path, 'stages'], value['stages']),
      finally: this.#steps([...path, 'finally'], value['finally']),
      place,
    }
  }

  /** The protocol must be one that clients can speak. */
  #protocol(path: Path, protocol: string): void {
    try {
      clientCodec(this.#registry.codecs, protocol)
    } catch (error) {
      this.#report(path, 'unknown-protocol', (error as Error).message)
    }
  }

  /** The slots with which a pipeline starts. A slot that no stage gives is a typing error. */
  #inputs(path: Path, slots: string[]): string[] {
    slots.forEach((slot, index) => {
      if (!this.#slots.has(slot) && !this.#registry.incomplete)
        this.#report([...path, index], 'unknown-slot', `no slot named "${slot}"${didYouMean(slot, this.#slots)}`)
    })
    return slots
  }

  #steps(path: Path, value: Json | undefined): StepNode[] {
    return Array.isArray(value) ? value.map((step: Json, index) => this.#step([...path, index], step)) : []
  }

  #step(path: Path, value: Json): StepNode {
    if (typeof value === 'string') return this.#named(value, path, path, null)
    const [word, second] = isObject(value) ? Object.keys(value).filter((key) => key !== timeoutWord) : []
    if (!isObject(value) || word === undefined) {
      this.#report(path, 'step', 'a step is a name, or a name with its fields')
      return { kind: 'unknown', place: this.#place(path) }
    }
    if (second !== undefined)
      this.#report(
        [...path, second],
        'step',
        `a step has one name; indent "${second}" to make it a field of "${word}"`,
        'key',
      )
    const step = this.#named(word, path, [...path, word], value[word] ?? null)
    const timeout = value[timeoutWord]
    if (timeout === undefined || step.kind === 'unknown') return step
    this.#valid(timeoutFormat, [...path, timeoutWord], timeout)
    if (isTooShort(timeout)) this.#report([...path, timeoutWord], 'timeout', tooShort, 'value', 'warning')
    return { ...step, timeout: milliseconds(timeout) }
  }

  #named(word: string, path: Path, at: Path, value: Json): StepNode {
    const place = this.#place(path)
    switch (word) {
      case 'use':
        if (typeof value === 'string') return { kind: 'use', place: this.#place(at), pipeline: value }
        this.#report(at, 'step', '"use" takes the name of a pipeline')
        return { kind: 'unknown', place }
      case 'switch':
        return this.#switch(place, at, value)
      case 'attempt':
        return this.#attempt(place, at, value)
      case 'act':
        return this.#act(place, at, value)
      default:
        return this.#stage(word, place, at, value)
    }
  }

  #stage(name: string, place: Place, at: Path, given: Json): StepNode {
    const { stages, actions, incomplete } = this.#registry
    const found = stages.get(name)
    if (found === undefined) {
      const hint = actions.has(name)
        ? `: "${name}" is an action, which a pipeline runs by "act: ${name}"`
        : didYouMean(name, [...stages.keys(), ...structuralWords])
      if (!incomplete) this.#report(place.path, 'unknown-stage', `no stage named "${name}"${hint}`)
      return { kind: 'unknown', place }
    }
    const schema = found.config as Parameters<typeof namesIn>[0] & object
    const before = this.#diagnostics.length
    const config = this.#valid(schema, at, this.#fields(name, schema, at, given))
    if (isObject(config) && this.#diagnostics.length === before)
      this.#diagnostics.push(
        ...checkStage(found, config, this.#place(at), { registry: this.#registry, codecs: this.#codecs }),
      )
    const stage = isObject(config) ? assured(found, config) : found
    const names = namesIn(schema, config, this.#place(at))
    const timeout = duration(stage.timeout ?? stageTimeout)
    const settings = unwrittenOptions(schema, given)
    return { kind: 'stage', place, stage, config: isObject(config) ? config : {}, settings, names, timeout }
  }

  /** `act` alone, or with the name of an action. */
  #act(place: Place, at: Path, given: Json): StepNode {
    const { actions, incomplete } = this.#registry
    const action = typeof given === 'string' ? actions.get(given) : undefined
    if (given !== null && action === undefined) {
      const message =
        typeof given === 'string'
          ? `no action named "${given}"${didYouMean(given, [...actions.keys()])}`
          : '"act" stands alone, or takes the name of an action'
      if (typeof given !== 'string' || !incomplete) this.#report(at, 'unknown-action', message)
      return { kind: 'unknown', place }
    }
    const run = action ? [action] : [...actions.values()]
    const stage = actStage(run, action?.summary)
    const names = run.flatMap(({ runs = {} }) =>
      Object.entries(runs).map(([name, slots]) => ({ kind: 'pipeline', name, place: this.#place(at), ...slots })),
    )
    const timeout = action ? duration(action.timeout ?? stageTimeout) : 0
    return { kind: 'stage', place, stage, config: {}, settings: {}, names, timeout, action } satisfies ActNode
  }

  /** The fields of a stage. A timeout among them, which belongs next to the stage's name, gets a message of its own. */
  #fields(name: string, { properties = {} }: { readonly properties?: object }, at: Path, given: Json): Json {
    if (!isObject(given) || given[timeoutWord] === undefined || Object.hasOwn(properties, timeoutWord))
      return given ?? {}
    const message = `"${timeoutWord}" is not a field of "${name}"; write it next to the name, at the same indentation`
    this.#report([...at, timeoutWord], 'step', message, 'key')
    const { [timeoutWord]: _, ...fields } = given
    return fields
  }

  #switch(place: Place, at: Path, given: Json): StepNode {
    const value = this.#valid(switchFormat, at, given)
    if (!Array.isArray(value)) return { kind: 'unknown', place }
    const earlier: JsonObject[] = []
    const arms = value.map((arm: Json, index): SwitchNode['arms'][number] => {
      const path = [...at, index]
      const checked = this.#valid(armFormat, path, arm)
      const { when, do: steps } = isObject(checked) ? checked : {}
      if (isObject(when)) {
        if (earlier.some((one) => asksNoMore(one, when)))
          this.#report([...path, 'when'], 'unreachable', 'an earlier arm takes all that this one asks for')
        earlier.push(when)
      }
      if (when === undefined && index < value.length - 1)
        this.#report(path, 'unreachable', 'an arm without "when" matches everything; later arms are never reached')
      return {
        ...(isObject(when) ? { when: this.#conditions([...path, 'when'], when) } : {}),
        steps: this.#steps([...path, 'do'], steps),
      }
    })
    return { kind: 'switch', place, arms }
  }

  #conditions(path: Path, when: JsonObject) {
    return Object.entries(when).flatMap(([key, value]) => {
      const condition = readCondition(key, value, this.#slots, this.#place([...path, key]))
      if (typeof condition === 'string') {
        this.#report([...path, key], 'condition', condition)
        return []
      }
      const wrong = wrongField(condition, this.#registry.slots.get(condition.slot))
      if (wrong !== undefined) this.#report([...path, key], 'unknown-field', wrong, 'key')
      const doubtful = doubtfulCondition(condition, this.#codecs)
      if (doubtful !== undefined) {
        const { code, message } = doubtful
        this.#diagnostics.push({ ...this.#source.report([...path, key], code, message, 'key'), warning: true })
      }
      return [condition]
    })
  }

  #attempt(place: Place, at: Path, given: Json): StepNode {
    const before = this.#diagnostics.length
    const value = this.#valid(attemptFormat, at, given)
    const fields = isObject(value) ? value : {}
    const steps = this.#steps([...at, 'do'], fields['do'])
    const over = fields['over']
    if (typeof over === 'string' && this.#registry.slots.has(over) && !this.#registry.slots.get(over)?.candidates)
      this.#report([...at, 'over'], 'no-list', `"${over}" is not a list of candidates; an attempt needs one`)
    if (this.#diagnostics.length > before && typeof over !== 'string') return { kind: 'unknown', place }
    const { wait, wait_max: most } = isObject(given) ? given : {}
    if (isDuration(wait) && isDuration(most) && duration(wait) > duration(most))
      this.#report(
        [...at, 'wait'],
        'wait',
        `is longer than wait_max (${most}), which is the longest wait ever`,
        'value',
        'warning',
      )
    return {
      kind: 'attempt',
      place,
      over: typeof over === 'string' ? over : '',
      options: Object.fromEntries(attemptOptions.map((name) => [name, fields[name] ?? null])),
      settings: unwrittenOptions(attemptFormat, given),
      steps,
      ...(fields['otherwise'] === undefined
        ? {}
        : { otherwise: this.#steps([...at, 'otherwise'], fields['otherwise']) }),
    }
  }

  #valid(schema: object, path: Path, given: Json): Json {
    const { value, diagnostics } = validator(schema)(this.#source, path, given)
    this.#diagnostics.push(...diagnostics)
    return value
  }

  #place(path: Path): Place {
    return { source: this.#source, path }
  }

  #report(path: Path, code: string, message: string, at: 'key' | 'value' = 'value', as = 'error'): void {
    const finding = this.#source.report(path, code, message, at)
    this.#diagnostics.push(as === 'warning' ? { ...finding, warning: true } : finding)
  }
}

/** The stage with the slots that it gives for sure with this configuration among those that it provides. */
function assured(stage: AnyStage, config: JsonObject): AnyStage {
  const sure = stage.assures?.(config) ?? []
  if (sure.length === 0) return stage
  const { gives = [], ...rest } = stage
  const unsure = gives.filter((slot) => !sure.includes(slot))
  return { ...rest, provides: [...stage.provides, ...sure], ...(unsure.length > 0 ? { gives: unsure } : {}) }
}

/** Whether the conditions of an arm of a `switch` hold wherever those of another one do. */
function asksNoMore(one: JsonObject, other: JsonObject): boolean {
  return Object.entries(one).every(([key, value]) => isDeepStrictEqual(value, other[key]))
}

function texts(value: Json | undefined): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : []
}

/**
 * Runs a stage's own check of a configuration that its schema accepts.
 * @returns nothing while some plugin could not be loaded, because services may be missing only for that reason
 */
function checkStage(
  stage: AnyStage,
  config: JsonObject,
  place: Place,
  { registry, codecs }: { readonly registry: Registry; readonly codecs: KnownServices['codecs'] },
): Diagnostic[] {
  if (stage.check === undefined || registry.incomplete) return []
  const services = [...registry.services.values()]
  const usersOf = (name: string) => services.filter(({ uses }) => uses.includes(name)).map((service) => service.name)
  const found: Diagnostic[] = []
  const report: SectionReport = (path, message, code = 'stage', as = 'error') => {
    const finding = reportAt(within(place, ...path), code, message)
    found.push(as === 'warning' ? { ...finding, warning: true } : finding)
  }
  try {
    stage.check(config, { usersOf, codecs }, report)
  } catch (error) {
    if (error instanceof Refusal) report(error.path, error.message)
    else report([], `the stage "${stage.name}" cannot check its configuration: ${wordsOfThrown(error)}`)
  }
  return found
}
