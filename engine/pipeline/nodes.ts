import type { JsonObject } from '../spec/json.ts'
import type { SlotName } from '../spec/slots.ts'
import type { AnyAction } from '../spec/action.ts'
import type { AnyStage } from '../spec/stage.ts'
import type { Diagnostic, Path } from '../config/diagnostics.ts'
import { withinPackage } from '../config/shipped.ts'
import type { Source } from '../config/source.ts'

/** The source position of something in a pipeline. */
export interface Place {
  readonly source: Source
  readonly path: Path
}

/** A name in the configuration of a stage, or in a record. */
export interface Named {
  readonly kind: string
  readonly name: string
  readonly place: Place
  /** Slots handed to the named pipeline when the stage runs it (`x-inputs`); absent: the stage does not run it. */
  readonly inputs?: readonly string[]
  /** Slots that the named pipeline must always give (`x-gives`). */
  readonly gives?: readonly string[]
}

/** The settings that give the options that a step does not write, by option: `{ tries: 'resilience.retries.tries' }`. */
export type FromSettings = Readonly<Record<string, string>>

/** A value that a condition can compare with. */
export type Scalar = string | number | boolean | null

/** The test that a condition applies to a value. */
export type Test =
  /** For a slot itself: whether it is set. */
  | { readonly kind: 'there'; readonly wanted: boolean }
  | { readonly kind: 'is'; readonly any: readonly Scalar[] }
  | { readonly kind: 'prefix'; readonly any: readonly string[] }
  /** Texts in which each `*` matches any characters, or none. */
  | { readonly kind: 'pattern'; readonly any: readonly string[] }
  | { readonly kind: 'not'; readonly test: Test }
  | { readonly kind: 'all'; readonly tests: readonly Test[] }

/** One line of a `when:` map. */
export interface Condition {
  readonly place: Place
  readonly slot: string
  /** Path from the slot to the value; empty for the slot itself. */
  readonly path: readonly string[]
  readonly test: Test
}

/** One parsed step of a pipeline: valid by itself, not yet checked against its neighbours. */
export type StepNode = StageNode | ActNode | UseNode | SwitchNode | AttemptNode | UnknownNode

/** Fields that every step may have next to its name. */
interface Limited {
  /** Timeout in milliseconds; a stage always has one. */
  readonly timeout?: number
}

/** `- name` or `- name: { ... }`. */
export interface StageNode extends Limited {
  readonly kind: 'stage'
  readonly place: Place
  readonly stage: AnyStage
  /** Valid, with defaults filled in. */
  readonly config: JsonObject
  /** Settings that replace defaults in it. */
  readonly settings: FromSettings
  /** The names in its configuration. */
  readonly names: readonly Named[]
  readonly timeout: number
}

/** `- act`, or `- act: list-things`. Its stage has a timeout of its own if this one is 0. */
export interface ActNode extends StageNode {
  /** Undefined: the action of the route. */
  readonly action: AnyAction | undefined
}

/** `- use: pipeline`. */
export interface UseNode extends Limited {
  readonly kind: 'use'
  readonly place: Place
  readonly pipeline: string
}

/** `- switch: [{ when, do }, { do }]`. */
export interface SwitchNode extends Limited {
  readonly kind: 'switch'
  readonly place: Place
  readonly arms: readonly { readonly when?: readonly Condition[]; readonly steps: readonly StepNode[] }[]
}

/** `- attempt: { over, tries, on, wait, wait_max, do, otherwise }`. */
export interface AttemptNode extends Limited {
  readonly kind: 'attempt'
  readonly place: Place
  /** The slot with the candidates. */
  readonly over: string
  /** Its options without steps, with defaults filled in. */
  readonly options: JsonObject
  /** Settings that replace defaults in them. */
  readonly settings: FromSettings
  readonly steps: readonly StepNode[]
  readonly otherwise?: readonly StepNode[]
}

/** A step that could not be parsed; it may give any slot. */
export interface UnknownNode {
  readonly kind: 'unknown'
  readonly place: Place
}

/** A served method and path; `WS` stands for a WebSocket. Segments that start with `:` are parameters. */
export interface Route {
  readonly method: string
  readonly path: string
  /** Position of the alias that adds the route; absent: the pipeline declares it. */
  readonly alias?: Place
  /** The action that it runs, if it runs one. */
  readonly action?: AnyAction
}

/** A parsed pipeline. */
export interface Pipeline {
  readonly name: string
  readonly summary: string
  readonly protocol?: string
  readonly routes: readonly Route[]
  /** Where `actions` stands among its routes: it serves all actions that no other pipeline serves. */
  readonly actionsAt?: number
  /** Whether a WebSocket is one exchange; otherwise each of its messages is. */
  readonly relays: boolean
  readonly public: boolean
  readonly inputs: readonly string[]
  /** Duties that it and what it includes need not pay. */
  readonly without: readonly string[]
  /** The version of the product that it was copied from. */
  readonly copied?: string
  /** Whether its file is one of the product. */
  readonly shipped: boolean
  readonly stages: readonly StepNode[]
  readonly finally: readonly StepNode[]
  readonly place: Place
}

/** A nested place. */
export function within({ source, path }: Place, ...steps: readonly (string | number)[]): Place {
  return { source, path: [...path, ...steps] }
}

/** A finding at a place. */
export function reportAt({ source, path }: Place, code: string, message: string): Diagnostic {
  return source.report(path, code, message)
}

/** `file:line:column` of a place. */
export function printPlace(place: Place): string {
  const { file, line, column } = reportAt(place, '', '')
  return `${file}:${line}:${column}`
}

/** The same for rows and clients, who do not learn where the package is. */
export function shownPlace(place: Place): string {
  const { file, line, column } = reportAt(place, '', '')
  return `${withinPackage(file)}:${line}:${column}`
}

/** The paths of neighbouring steps (`StagePlace.path`), below the path of the step around them. */
export function pathsOf(steps: readonly StepNode[], around = ''): string[] {
  const counts = new Map<string, number>()
  return steps.map((step) => {
    const word = wordOf(step)
    const count = (counts.get(word) ?? 0) + 1
    counts.set(word, count)
    return `${around === '' ? '' : `${around}/`}${word}${count === 1 ? '' : `:${count}`}`
  })
}

function wordOf(step: StepNode): string {
  if (step.kind === 'stage') return step.stage.name
  return step.kind === 'use' ? step.pipeline : step.kind
}

/** All slots that a stage may give. */
export function givenBy({ provides, gives = [] }: AnyStage): readonly SlotName[] {
  return [...provides, ...gives]
}

/**
 * The stages among some steps and their nested steps, also in includes if the pipelines are given. Of a circle of
 * includes, those of its first round.
 */
export function stagesOf(
  nodes: readonly StepNode[],
  byName: ReadonlyMap<string, Pipeline> = new Map(),
  opened: readonly string[] = [],
): StageNode[] {
  const inner = (steps: readonly StepNode[]) => stagesOf(steps, byName, opened)
  return nodes.flatMap((node): StageNode[] => {
    switch (node.kind) {
      case 'stage':
        return [node]
      case 'switch':
        return node.arms.flatMap(({ steps }) => inner(steps))
      case 'attempt':
        return inner([...node.steps, ...(node.otherwise ?? [])])
      case 'use': {
        const { pipeline: name } = node
        return opened.includes(name) ? [] : stagesOf(byName.get(name)?.stages ?? [], byName, [...opened, name])
      }
      case 'unknown':
        return []
    }
  })
}

/** The pipelines that run on their own: those with routes, and those named in the configuration of a stage. */
export function servedOf(pipelines: readonly Pipeline[]): Pipeline[] {
  const stages = pipelines.flatMap((pipeline) => stagesOf([...pipeline.stages, ...pipeline.finally]))
  const named = new Set(stages.flatMap(pipelinesOf).map(({ name }) => name))
  return pipelines.filter(({ name, routes }) => routes.length > 0 || named.has(name))
}

/** The attempts among some steps and their nested steps. */
export function attemptsOf(nodes: readonly StepNode[]): AttemptNode[] {
  return nodes.flatMap((node): AttemptNode[] => {
    if (node.kind === 'switch') return node.arms.flatMap(({ steps }) => attemptsOf(steps))
    return node.kind === 'attempt' ? [node, ...attemptsOf([...node.steps, ...(node.otherwise ?? [])])] : []
  })
}

/** The pipelines named in the configuration of a stage. */
export function pipelinesOf({ names }: StageNode): readonly Named[] {
  return names.filter(({ kind }) => kind === 'pipeline')
}

/** The names of all pipelines that some steps, and their nested steps, include or name in their configuration. */
export function pipelinesIn(nodes: readonly StepNode[]): string[] {
  return nodes.flatMap((node) => {
    switch (node.kind) {
      case 'use':
        return [node.pipeline]
      case 'stage':
        return pipelinesOf(node).map(({ name }) => name)
      case 'switch':
        return node.arms.flatMap(({ steps }) => pipelinesIn(steps))
      case 'attempt':
        return pipelinesIn([...node.steps, ...(node.otherwise ?? [])])
      case 'unknown':
        return []
    }
  })
}
