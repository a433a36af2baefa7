import type { Json } from './json.ts'
import type { PageView } from './page.ts'

/** A mistake in the files of a configuration. */
export interface Finding {
  /** Relative to the root folder. */
  readonly file: string
  /** From 1. */
  readonly line: number
  readonly column: number
  readonly code: string
  readonly message: string
}

/** The state of the running configuration. Times are Unix times in milliseconds. */
export interface RunningState {
  readonly version: string
  /** When it went live. */
  readonly loadedAt: number
  /** Its files, relative to the root folder. */
  readonly files: readonly string[]
  /** Sentences about what is off, and why. */
  readonly off: readonly string[]
  /** Warnings of what strangers may use: weak secrets, open doors, a proxy that is not trusted. */
  readonly risks: readonly Finding[]
  /** Why newer files were refused; absent: they were not. */
  readonly refused?: { readonly at: number; readonly findings: readonly Finding[] }
}

/** An option of a step, and what gives its value: the YAML, a section of the settings, or the default. */
export interface PlannedOption {
  readonly name: string
  readonly value: Json
  readonly from: 'pipeline' | 'settings' | 'default'
}

/** A step of a pipeline as it runs, for people. */
export interface PlannedStep {
  readonly kind: 'stage' | 'use' | 'switch' | 'attempt' | 'unknown'
  /** The name of a stage, or of an included pipeline. */
  readonly name?: string
  /** Its path (`StagePlace.path`). */
  readonly path: string
  readonly file: string
  readonly line: number
  readonly column: number
  /** A duration such as `60s`. */
  readonly timeout?: string
  readonly needs?: readonly string[]
  readonly reads?: readonly string[]
  /** Slots that it always gives, and further ones that it may give. */
  readonly provides?: readonly string[]
  readonly gives?: readonly string[]
  /** Slots with which it settles at the end of the exchange, or of its try. */
  readonly settles?: readonly string[]
  /** Duties that it owes, and those that it pays. */
  readonly owes?: readonly string[]
  readonly pays?: readonly string[]
  /** Its configuration with settings and defaults; values from the environment are hidden. */
  readonly options?: readonly PlannedOption[]
  /** Arms of a switch; one without `when` is the default. */
  readonly arms?: readonly { readonly when?: string; readonly do: readonly PlannedStep[] }[]
  readonly do?: readonly PlannedStep[]
  readonly otherwise?: readonly PlannedStep[]
}

/** A pipeline of the running configuration, for people. */
export interface PipelineView {
  readonly name: string
  readonly summary: string
  /** Where it is declared. */
  readonly file: string
  readonly line: number
  /** The protocol of its clients. */
  readonly protocol?: string
  /** Whether nobody has to authenticate. */
  readonly public: boolean
  /** `WS` stands for a WebSocket. */
  readonly routes: readonly {
    readonly method: string
    readonly path: string
    /** The action that it runs, and who may run it (`accessOf`). */
    readonly action?: { readonly name: string; readonly summary: string; readonly access: string }
  }[]
  /** Slots with which it starts; none for a pipeline with routes. */
  readonly inputs: readonly string[]
  /** Duties that it need not pay. */
  readonly without: readonly string[]
  /** Its YAML, without the rest of its file. */
  yaml(): string
  /** Its steps with includes expanded, and those that run at the end. */
  plan(): { readonly stages: readonly PlannedStep[]; readonly finally: readonly PlannedStep[] }
}

/** The running configuration. */
export interface Running {
  state(): RunningState
  /** The pipelines of the configuration that the exchange began with. */
  readonly pipelines: readonly PipelineView[]
  /** The OpenAPI 3.1 document of its actions, and of what holders of API keys ask, as JSON text. */
  document(): Promise<Uint8Array>
  /** The pages that plugins bring to the console. */
  pages(): readonly PageView[]
  /** Reads the files again and makes them live. Resolves to the findings if they are refused. */
  reload(): Promise<readonly Finding[]>
}
