import { display, printDiagnostic } from '../config/diagnostics.ts'
import type { Diagnostic } from '../config/diagnostics.ts'
import { withinPackage, withoutPlaces } from '../config/shipped.ts'
import { planSteps } from '../pipeline/plan.ts'
import type { Planning } from '../pipeline/plan.ts'
import type { HostStatus } from '../spec/host.ts'
import type { Finding, PipelineView, Running } from '../spec/running.ts'

/** What is known of the running configuration beside its contents. */
export class RunningStatus {
  readonly #root: string
  #loadedAt = 0
  /** The newest files, if they were refused. */
  #refused: { readonly at: number; readonly findings: readonly Diagnostic[] } | undefined

  /** @param root the folder to which names of files are relative */
  constructor(root: string) {
    this.#root = root
  }

  wentLive(): void {
    this.#loadedAt = Date.now()
  }

  accepted(): void {
    this.#refused = undefined
  }

  refused(findings: readonly Diagnostic[]): void {
    this.#refused = { at: Date.now(), findings }
  }

  /** The version of a configuration, and the first finding of newer files that were refused. */
  config(current: Shown['current'] | undefined, scrub: (text: string) => string): HostStatus['config'] {
    const [first] = this.#refused?.findings ?? []
    const told = first === undefined ? 'refused' : withoutPlaces(printDiagnostic(first), this.#root)
    return { version: current?.version ?? '', ...(this.#refused ? { error: scrub(told) } : {}) }
  }

  /** What stages see of the configuration that runs. */
  shown(live: Shown): Pick<Running, 'state' | 'reload'> {
    return {
      state: () => {
        const { version, files, off } = live.current
        const refused = this.#refused
        return {
          version,
          loadedAt: this.#loadedAt,
          files: files.map((file) => withinPackage(display(file, this.#root))),
          off,
          ...(refused ? { refused: { at: refused.at, findings: findingsOf(refused.findings, this.#root) } } : {}),
        }
      },
      reload: async () => findingsOf(await live.reload(), this.#root),
    }
  }
}

interface Shown {
  readonly current: { readonly version: string; readonly files: readonly string[]; readonly off: readonly string[] }
  reload(): Promise<readonly Diagnostic[]>
}

/** Diagnostics as findings for clients. */
function findingsOf(diagnostics: readonly Diagnostic[], root: string): readonly Finding[] {
  return diagnostics.map(({ file, line, column, code, message }) => ({
    file: withinPackage(file),
    line,
    column,
    code,
    message: withoutPlaces(message, root),
  }))
}

/** The pipelines of a configuration for clients. */
export function pipelineViews(planning: Planning): readonly PipelineView[] {
  return planning.pipelines.map((pipeline) => {
    const { name, summary, protocol, routes, inputs, place } = pipeline
    const { file, line } = place.source.report(place.path, '', '')
    return {
      name,
      summary,
      file: withinPackage(file),
      line,
      ...(protocol === undefined ? {} : { protocol }),
      public: pipeline.public,
      routes: routes.map(({ method, path }) => ({ method, path })),
      inputs,
      yaml: () => place.source.textOf?.(place.path) ?? '',
      plan: () => ({
        stages: planSteps(pipeline.stages, planning),
        finally: planSteps(pipeline.finally, planning, 'finally'),
      }),
    }
  })
}
