/** An option of a step, and what gives its value. */
export interface PlannedOption {
  readonly name: string
  readonly value: unknown
  readonly from: 'pipeline' | 'settings' | 'default'
}

/** A step of a pipeline as it runs, as `GET /api/config/pipelines/:name` answers. */
export interface PlannedStep {
  readonly kind: 'stage' | 'use' | 'switch' | 'attempt' | 'unknown'
  /** Of a stage, or of an included pipeline. */
  readonly name?: string
  /** Stable within the pipeline: `generate/attempt/call`. */
  readonly path: string
  readonly file: string
  readonly line: number
  readonly column: number
  readonly timeout?: string
  readonly needs?: readonly string[]
  readonly reads?: readonly string[]
  readonly provides?: readonly string[]
  /** Further slots, which it may give. */
  readonly gives?: readonly string[]
  readonly settles?: readonly string[]
  readonly options?: readonly PlannedOption[]
  readonly arms?: readonly PlannedArm[]
  readonly do?: readonly PlannedStep[]
  readonly otherwise?: readonly PlannedStep[]
}

export interface PlannedArm {
  /** Its condition in words; none: the default arm. */
  readonly when?: string
  readonly do: readonly PlannedStep[]
}

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
