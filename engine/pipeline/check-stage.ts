import { wordsOfThrown } from '../config/plugin-error.ts'
import type { Registry } from '../config/registry.ts'
import { Refusal } from '../spec/error.ts'
import type { JsonObject } from '../spec/json.ts'
import type { SectionReport } from '../spec/service.ts'
import type { AnyStage, KnownServices } from '../spec/stage.ts'
import { reportAt, within } from './nodes.ts'
import type { Place } from './nodes.ts'
import type { Diagnostic } from '../config/diagnostics.ts'

/**
 * Runs a stage's own check of a configuration that its schema accepts.
 * @returns nothing while some plugin could not be loaded, because services may be missing only for that reason
 */
export function checkStage(
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
