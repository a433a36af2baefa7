import type { PlannedStep } from '../../../engine/spec/running.ts'

/** Steps of a pipeline as it runs, as `GET /api/config/pipelines/:name` answers them. */
export type { PlannedOption, PlannedStep } from '../../../engine/spec/running.ts'

/** An arm of a switch; one without `when` is the default. */
export type PlannedArm = NonNullable<PlannedStep['arms']>[number]

/** What a picture is drawn from. */
export interface Plan {
  /** Slots with which it starts. */
  readonly inputs: readonly string[]
  readonly plan: readonly PlannedStep[]
  readonly finally: readonly PlannedStep[]
}

/** The steps that stand directly within a step, in the order of the file. */
export function within({ arms = [], do: inner = [], otherwise = [] }: PlannedStep): readonly PlannedStep[] {
  return [...arms.flatMap((arm) => arm.do), ...inner, ...otherwise]
}

/** The steps and all that stands within them, in the order of the file. */
export function everyStep(steps: readonly PlannedStep[]): readonly PlannedStep[] {
  return steps.flatMap((step) => [step, ...everyStep(within(step))])
}

/** The path of an arm, from 1, as in the times. */
export const armPath = (step: PlannedStep, index: number): string => `${step.path}/${index + 1}`

/** The value of an option; `undefined` where the step has none of that name. */
export function optionOf({ options = [] }: PlannedStep, name: string): unknown {
  return options.find((option) => option.name === name)?.value
}

/** The value of an option in words. */
export const valueText = (value: unknown): string =>
  Array.isArray(value) ? value.map(valueText).join(', ') : typeof value === 'string' ? value : JSON.stringify(value)
