import type { Diagnostic } from '../config/diagnostics.ts'
import type { Registry } from '../config/registry.ts'
import { didYouMean } from '../config/suggest.ts'
import { Duties } from './duties.ts'
import { DutyProof } from './duty-proof.ts'
import type { Duty } from '../spec/stage.ts'
import type { Unpaid } from './duty-proof.ts'
import { reportAt, servedOf, within } from '../pipeline/nodes.ts'
import type { Pipeline } from '../pipeline/nodes.ts'
import { handedOver, PathStates } from './path-states.ts'

/** A warning that depends on settings or records. */
export interface Advice {
  /** It holds while this service has other settings than its defaults; absent: always. */
  readonly service?: string
  /** It is an error while this names in the records what would be missed. */
  readonly unless?: Duty['unless']
  readonly pipeline: string
  readonly warning: Diagnostic
}

/**
 * Proves for each pipeline that runs on its own that every duty is paid which its stages owe (`owes` and `pays` of a
 * stage): on every path, however the exchange ends. Included pipelines are proven where they are used, because the rest
 * of the path may pay. A pipeline with a step that could not be parsed is skipped.
 */
export function checkDuties(
  pipelines: readonly Pipeline[],
  registry: Registry,
): { readonly diagnostics: readonly Diagnostic[]; readonly advice: readonly Advice[] } {
  const duties = new Duties(registry)
  const byName = new Map(pipelines.map((pipeline) => [pipeline.name, pipeline]))
  const context = { byName, duties, states: new PathStates(pipelines), handed: handedOver(pipelines) }
  const found = servedOf(pipelines).flatMap((root) => new DutyProof(root, context).run())
  // A mistake in an included pipeline is found once per pipeline that includes it.
  const once = new Map(found.map((one) => [`${one.file}:${one.line}:${one.column} ${one.message}`, one])).values()
  const { true: advised = [], false: wrong = [] } = Object.groupBy(
    once,
    ({ service, unless }) => `${service !== undefined || unless !== undefined}`,
  )
  return {
    diagnostics: [...wrong.map(findingOf), ...(registry.incomplete ? [] : unknownDuties(pipelines, duties))],
    advice: advised.map(adviceOf),
  }
}

function findingOf({ service: _service, unless: _unless, pipeline: _pipeline, ...finding }: Unpaid): Diagnostic {
  return finding
}

function adviceOf(unpaid: Unpaid): Advice {
  const { service, unless, pipeline } = unpaid
  const when = { ...(service === undefined ? {} : { service }), ...(unless ? { unless } : {}) }
  return { ...when, pipeline, warning: { ...findingOf(unpaid), warning: true } }
}

function unknownDuties(pipelines: readonly Pipeline[], { names }: Duties): Diagnostic[] {
  return pipelines.flatMap(({ without, place }) =>
    without.flatMap((duty, index) => {
      if (names.has(duty)) return []
      const message = `no stage owes "${duty}"${didYouMean(duty, names)}`
      return [reportAt(within(place, 'without', index), 'unknown-duty', message)]
    }),
  )
}

/** Says which pipelines of the operator do without a duty. */
export function waivedDuties(pipelines: readonly Pipeline[]): Diagnostic[] {
  return pipelines.flatMap(({ name, without, shipped, place }) => {
    if (without.length === 0 || shipped) return []
    const words = without.map((duty) => `"${duty}"`).join(', ')
    return [
      { ...reportAt(within(place, 'without'), 'without', `"${name}" does without ${words}`), note: true as const },
    ]
  })
}
