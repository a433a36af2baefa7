import { printDuration } from '../spec/duration.ts'
import type { Json } from '../spec/json.ts'
import type { Condition } from './match.ts'
import { printPlace } from './nodes.ts'
import type { Pipeline, StepNode } from './nodes.ts'

/**
 * A pipeline as it will run, as text: includes opened, and of each stage where it was written, how long it may take, what
 * it needs and gives, and its configuration with defaults. The pipelines must have passed `checkFlow`.
 */
export function planPipeline(pipeline: Pipeline, pipelines: readonly Pipeline[]): string {
  const byName = new Map(pipelines.map((other) => [other.name, other]))
  const access = pipeline.routes.length > 0 && pipeline.public ? ['public'] : []
  return [
    line(0, pipeline.name, printPlace(pipeline.place)),
    `  ${pipeline.summary}`,
    ...pipeline.routes.map(({ method, path }) => `  ${method} ${path}`),
    ...access.map((word) => `  ${word}`),
    ...(pipeline.protocol === undefined ? [] : [`  clients speak ${pipeline.protocol}`]),
    ...(pipeline.inputs.length > 0 ? [`  starts with ${pipeline.inputs.join(', ')}`] : []),
    'stages',
    ...planSteps(pipeline.stages, byName, 1),
    ...(pipeline.finally.length > 0 ? ['finally', ...planSteps(pipeline.finally, byName, 1)] : []),
    '',
  ].join('\n')
}

function planSteps(steps: readonly StepNode[], byName: ReadonlyMap<string, Pipeline>, depth: number): string[] {
  return steps.flatMap((step): string[] => {
    const at = printPlace(step.place)
    switch (step.kind) {
      case 'stage': {
        const { name, needs, maybe = [], provides } = step.stage
        return [
          line(depth, name, at, step.timeout),
          ...slots(depth, 'needs', needs),
          ...slots(depth, 'reads', maybe),
          ...slots(depth, 'gives', provides),
          ...Object.entries(step.config).map(([field, value]) => {
            const secret = step.place.source.interpolated([...step.place.path, name, field])
            return `${indent(depth + 1)}${field}: ${secret ? '(from the environment)' : print(value)}`
          }),
        ]
      }
      case 'use':
        return [
          line(depth, `use ${step.pipeline}`, at, step.timeout),
          ...planSteps(byName.get(step.pipeline)?.stages ?? [], byName, depth + 1),
        ]
      case 'switch':
        return [
          line(depth, 'switch', at, step.timeout),
          ...step.arms.flatMap(({ when, steps: inner }) => [
            `${indent(depth + 1)}${when === undefined ? 'otherwise' : `when ${when.map(printCondition).join(' and ')}`}`,
            ...planSteps(inner, byName, depth + 2),
          ]),
        ]
      case 'attempt':
        return [
          line(depth, 'attempt', at, step.timeout),
          `${indent(depth + 1)}over ${step.over}, ${step.tries} tries, on ${step.on.join(', ')}, wait up to ${step.wait}ms`,
          ...planSteps(step.steps, byName, depth + 1),
          ...(step.otherwise === undefined
            ? []
            : [`${indent(depth + 1)}otherwise`, ...planSteps(step.otherwise, byName, depth + 2)]),
        ]
      case 'unknown':
        return [line(depth, '?', at)]
    }
  })
}

function line(depth: number, text: string, at: string, timeout?: number): string {
  const within = timeout === undefined ? '' : `  within ${printDuration(timeout)}`
  return `${`${indent(depth)}${text}`.padEnd(32)} ${at}${within}`
}

function slots(depth: number, word: string, names: readonly string[]): string[] {
  return names.length > 0 ? [`${indent(depth + 1)}${word} ${names.join(', ')}`] : []
}

function printCondition({ slot, path, accepts }: Condition): string {
  if (typeof accepts === 'boolean') return accepts ? slot : `no ${slot}`
  return `${[slot, ...path].join('.')} is ${accepts.map((value) => JSON.stringify(value)).join(' or ')}`
}

function print(value: Json | undefined): string {
  return typeof value === 'string' && /^[\w./:-]+$/.test(value) ? value : JSON.stringify(value)
}

function indent(depth: number): string {
  return '  '.repeat(depth)
}
