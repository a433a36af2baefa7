import type { SectionSet } from '../records/sections.ts'
import { valuesOf } from '../records/sections.ts'
import { withinPackage } from '../config/shipped.ts'
import { printDuration } from '../spec/duration.ts'
import { accessOf } from '../spec/access.ts'
import type { Json, JsonObject } from '../spec/json.ts'
import type { PlannedOption, PlannedStep } from '../spec/running.ts'
import { pathsOf, printPlace, reportAt, within } from '../pipeline/nodes.ts'
import { paidBy } from '../proof/duties.ts'
import type { Condition, FromSettings, Pipeline, Place, StepNode, Test } from '../pipeline/nodes.ts'
import { valueAlong, withSettings } from '../pipeline/options.ts'

/** What a plan is made of besides the steps. */
export interface Planning {
  readonly pipelines: readonly Pipeline[]
  /** The sections of `server_config`. */
  readonly sections: SectionSet
}

/** Plans neighbouring steps, below the path of the step around them. */
type Plan = (steps: readonly StepNode[], around?: string) => readonly PlannedStep[]

/**
 * The steps of a pipeline as they will run, with includes expanded. The pipelines must have passed `checkFlow`.
 * @param around the path of what is around the steps: `finally` for those of a `finally`
 */
export function planSteps(
  steps: readonly StepNode[],
  { pipelines, sections }: Planning,
  around?: string,
): readonly PlannedStep[] {
  const byName = new Map(pipelines.map((pipeline) => [pipeline.name, pipeline]))
  const plan: Plan = (inner, outer) => {
    const paths = pathsOf(inner, outer)
    return inner.map((step, index) => planned(step, paths[index] as string, plan, { byName, sections }))
  }
  return plan(steps, around)
}

interface Known extends Pick<Planning, 'sections'> {
  readonly byName: ReadonlyMap<string, Pipeline>
}

function planned(step: StepNode, path: string, plan: Plan, { byName, sections }: Known): PlannedStep {
  const { kind, place } = step
  const { file, line, column } = reportAt(place, '', '')
  const timeout = 'timeout' in step && step.timeout ? { timeout: printDuration(step.timeout) } : {}
  const base = { kind, path, file: withinPackage(file), line, column, ...timeout }
  switch (step.kind) {
    case 'stage': {
      const { name, needs, reads = [], provides, gives, settles, owes } = step.stage
      const pays = paidBy(step.stage, step.config)
      const acts =
        'action' in step && step.action ? [{ name: 'action', value: step.action.name, from: 'pipeline' as const }] : []
      const options = plannedOptions(step.config, step.settings, within(place, name), sections)
      const insisted = step.stage.insists?.(step.config) ?? []
      const optional = reads.filter((slot) => !insisted.includes(slot))
      return {
        ...base,
        name,
        needs: [...needs, ...insisted],
        reads: optional,
        provides,
        ...(gives ? { gives } : {}),
        ...(settles ? { settles } : {}),
        ...(owes ? { owes: owes.map((one) => (typeof one === 'string' ? one : one.duty)) } : {}),
        ...(step.stage.pays ? { pays } : {}),
        options: [...acts, ...options],
      }
    }
    case 'use':
      return { ...base, name: step.pipeline, do: plan(byName.get(step.pipeline)?.stages ?? [], path) }
    case 'switch': {
      const arms = step.arms.map(({ when, steps }, index) => ({
        ...(when === undefined ? {} : { when: when.map(printCondition).join(' and ') }),
        do: plan(steps, `${path}/${index + 1}`),
      }))
      return { ...base, arms }
    }
    case 'attempt': {
      const { options, settings, steps, otherwise } = step
      return {
        ...base,
        options: plannedOptions(options, settings, within(place, 'attempt'), sections),
        do: plan(steps, path),
        ...(otherwise === undefined ? {} : { otherwise: plan(otherwise, `${path}/otherwise`) }),
      }
    }
    case 'unknown':
      return base
  }
}

function plannedOptions(
  options: JsonObject,
  settings: FromSettings,
  place: Place,
  sections: SectionSet,
): readonly PlannedOption[] {
  return Object.entries(withSettings(options, settings, valuesOf(sections))).map(([name, value = null]) => {
    const hidden = place.source.interpolated(within(place, name).path)
    return {
      name,
      value: hidden ? '(from the environment)' : value,
      from: originOf(name, settings, place, sections),
    }
  })
}

/**
 * A pipeline as it will run, as text. Includes are expanded. Each stage is shown with its source position, its
 * timeout, the slots it needs and gives, and its configuration with the origin of every value that the pipeline does
 * not write. The pipelines must have passed `checkFlow`.
 */
export function printPlan(pipeline: Pipeline, planning: Planning): string {
  const access = pipeline.routes.length > 0 && pipeline.public ? ['public'] : []
  const steps = (nodes: readonly StepNode[]) => planSteps(nodes, planning).flatMap((step) => printStep(step, 1))
  return [
    headline(0, pipeline.name, printPlace(pipeline.place)),
    `  ${pipeline.summary}`,
    ...pipeline.routes.map(({ method, path, action }) =>
      action ? `  ${`${method} ${path}`.padEnd(52)} ${action.name}  (${accessOf(action)})` : `  ${method} ${path}`,
    ),
    ...access.map((word) => `  ${word}`),
    ...(pipeline.protocol === undefined ? [] : [`  clients speak ${pipeline.protocol}`]),
    ...(pipeline.inputs.length > 0 ? [`  starts with ${pipeline.inputs.join(', ')}`] : []),
    ...(pipeline.without.length > 0 ? [`  does without ${pipeline.without.join(', ')}`] : []),
    'stages',
    ...steps(pipeline.stages),
    ...(pipeline.finally.length > 0 ? ['finally', ...steps(pipeline.finally)] : []),
  ].join('\n')
}

function printStep(step: PlannedStep, depth: number): string[] {
  const { kind, name = '', file, line, column, timeout } = step
  const word = { stage: name, use: `use ${name}`, switch: kind, attempt: kind, unknown: '?' }[kind]
  const indented = (text: string) => `${indent(depth + 1)}${text}`
  const slots = (verb: string, names: readonly string[] = []) =>
    names.length > 0 ? [indented(`${verb} ${names.join(', ')}`)] : []
  const inner = (steps: readonly PlannedStep[] = [], further = 1) =>
    steps.flatMap((one) => printStep(one, depth + further))
  return [
    `${headline(depth, word, `${file}:${line}:${column}`)}${timeout === undefined ? '' : `  within ${timeout}`}`,
    ...slots('needs', step.needs),
    ...slots('reads', step.reads),
    ...slots('gives', step.provides),
    ...slots('may give', step.gives),
    ...slots('settles with', step.settles),
    ...slots('owes', step.owes),
    ...slots('pays', step.pays),
    ...(step.options ?? []).map(({ name: option, value, from }) =>
      indented(`${option}: ${print(value)}${from === 'pipeline' ? '' : `  (${from})`}`),
    ),
    ...(step.arms ?? []).flatMap((arm) => [
      indented(arm.when === undefined ? 'otherwise' : `when ${arm.when}`),
      ...inner(arm.do, 2),
    ]),
    ...inner(step.do),
    ...(step.otherwise === undefined ? [] : [indented('otherwise'), ...inner(step.otherwise, 2)]),
  ]
}

function headline(depth: number, text: string, at: string): string {
  return `${`${indent(depth)}${text}`.padEnd(32)} ${at}`
}

function printCondition({ slot, path, test }: Condition): string {
  return test.kind === 'there' ? (test.wanted ? slot : `no ${slot}`) : printTest([slot, ...path].join('.'), test, false)
}

function printTest(path: string, test: Test, not: boolean): string {
  const either = (values: readonly Json[]) => values.map((value) => JSON.stringify(value)).join(' or ')
  switch (test.kind) {
    case 'not':
      return printTest(path, test.test, !not)
    case 'all':
      return test.tests.map((one) => printTest(path, one, not)).join(not ? ' or ' : ' and ')
    case 'is':
      return `${path} is ${not ? 'not ' : ''}${either(test.any)}`
    case 'prefix':
      return `${path} ${not ? 'does not begin' : 'begins'} with ${either(test.any)}`
    case 'pattern':
      return `${path} ${not ? 'does not look' : 'looks'} like ${either(test.any)}`
    case 'there':
      return path
  }
}

function print(value: Json): string {
  return typeof value === 'string' && /^[\w./: ()-]+$/.test(value) ? value : JSON.stringify(value)
}

function indent(depth: number): string {
  return '  '.repeat(depth)
}

/** Where the value of an option comes from. `place` is that of the options. */
function originOf(name: string, from: FromSettings, place: Place, sections: SectionSet): PlannedOption['from'] {
  const { source, path } = within(place, name)
  if (valueAlong(source.value, path) !== undefined) return 'pipeline'
  const [first = '', ...rest] = from[name]?.split('.') ?? []
  const section = sections.get(first)
  if (section === undefined) return 'default'
  const written = section.stored ? section.stored.value : valueAlong(section.source.value, section.path)
  return valueAlong(written, rest) === undefined ? 'default' : 'settings'
}
