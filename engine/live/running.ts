import { isWithin, rangesOf } from '../config/address-ranges.ts'
import type { Settings } from '../config/settings.ts'
import { display, printDiagnostic } from '../config/diagnostics.ts'
import type { Diagnostic } from '../config/diagnostics.ts'
import { withinPackage, withoutPlaces } from '../config/shipped.ts'
import { planSteps } from './plan.ts'
import type { Planning } from './plan.ts'
import { accessOf } from '../spec/access.ts'
import type { HostStatus } from '../spec/host.ts'
import type { Configuration } from '../records/configuration.ts'
import type { Finding, PipelineView, Running, RunningState } from '../spec/running.ts'

/** What is known of the running configuration beside its contents. */
export class RunningStatus {
  readonly #root: string
  #loadedAt = 0
  /** The newest files, if they were refused. */
  #refused: { readonly at: number; readonly findings: readonly Diagnostic[] } | undefined

  #untrusted: { readonly peer: string; readonly warning: Diagnostic } | undefined

  /** @param root the folder to which names of files are relative */
  constructor(root: string) {
    this.#root = root
  }

  get hasUntrusted(): boolean {
    return this.#untrusted !== undefined
  }

  /** A peer that is no trusted proxy, and the warning that it behaves like one. */
  untrusted(peer: string, warning: Diagnostic): void {
    this.#untrusted = { peer, warning }
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

  get refusal(): RunningState['refused'] {
    return this.#refused && { ...this.#refused, findings: findingsOf(this.#refused.findings, this.#root) }
  }

  /** The version of a configuration, and the first finding of newer files that were refused. */
  config(current: Pick<Configuration, 'version'> | undefined, scrub: (text: string) => string): HostStatus['config'] {
    const [first] = this.#refused?.findings ?? []
    const told = first === undefined ? 'refused' : withoutPlaces(printDiagnostic(first), this.#root)
    return { version: current?.version ?? '', ...(this.#refused ? { error: scrub(told) } : {}) }
  }

  /** What stages see of the configuration that runs. */
  shown(live: Shown): Pick<Running, 'state' | 'reload'> {
    return {
      state: () => {
        const { version, files, off, warnings, settings } = live.current
        const proxies = rangesOf(settings.server_config.security.trusted_proxies)
        const { peer, warning } = this.#untrusted ?? {}
        const isTrusted = peer === undefined || (proxies !== undefined && isWithin(peer, proxies))
        const known = warning === undefined || isTrusted ? warnings : [...warnings, warning]
        const { refusal: refused } = this
        return {
          version,
          loadedAt: this.#loadedAt,
          files: files.map((file) => withinPackage(display(file, this.#root))),
          off,
          risks: findingsOf(
            known.filter(({ code }) => risks.has(code)),
            this.#root,
          ),
          ...(refused ? { refused } : {}),
        }
      },
      reload: async () => findingsOf(await live.reload(), this.#root),
    }
  }
}

/** Codes of warnings of what strangers may use. */
const risks: ReadonlySet<string> = new Set(['weak-secret', 'open-door', 'untrusted-proxy'])

interface Shown {
  readonly current: Pick<Configuration, 'version' | 'files' | 'off' | 'warnings'> & { readonly settings: Settings }
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
    const { name, summary, protocol, routes, inputs, without, place } = pipeline
    const { file, line } = place.source.report(place.path, '', '')
    return {
      name,
      summary,
      file: withinPackage(file),
      line,
      ...(protocol === undefined ? {} : { protocol }),
      public: pipeline.public,
      routes: routes.map(({ method, path, action }) => ({
        method,
        path,
        ...(action ? { action: { name: action.name, summary: action.summary, access: accessOf(action) } } : {}),
      })),
      inputs,
      without,
      yaml: () => place.source.textOf?.(place.path) ?? '',
      plan: () => ({
        stages: planSteps(pipeline.stages, planning),
        finally: planSteps(pipeline.finally, planning, 'finally'),
      }),
    }
  })
}
