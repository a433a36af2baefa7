import { setTimeout as sleep } from 'node:timers/promises'
import type { Check } from '../conformance/check.ts'
import { Rig } from '../conformance/rig.ts'
import type { Subject } from '../conformance/rig.ts'
import { checksFor } from '../conformance/suite.ts'
import { didYouMean } from '../config/suggest.ts'
import type { Configuration } from '../records/configuration.ts'
import { WrongUse } from './terminal.ts'
import type { Terminal } from './terminal.ts'
import { count, printJson } from '../kit/text.ts'
import type { AnyProvider } from '../spec/provider.ts'
import type { JsonObject } from '../spec/json.ts'
import { makeCatalog } from '../live/catalog.ts'
import { emptyGateway } from '../live/gateway-host.ts'
import { hostMaker } from '../live/host-maker.ts'
import { unopenedViews } from '../live/views.ts'
import { productVersion } from '../version.ts'

/** Timeout of a check in milliseconds. */
const deadline = 60_000

/** The result of a check: why the provider failed it, if it did. */
interface Outcome {
  readonly group: string
  readonly name: string
  readonly problem: string | null
}

/** Runs the conformance suite on a provider type and prints the result of each check. Returns 1 if any check fails. */
export async function conform(
  type: string,
  configuration: Configuration,
  json: boolean,
  terminal: Terminal,
): Promise<number> {
  const { providers } = configuration.registry
  const plugin = providers.get(type)
  if (plugin === undefined) throw new WrongUse(`no provider type "${type}"${didYouMean(type, providers.keys())}`)
  const subject = subjectOf(plugin, configuration)
  const outcomes: Outcome[] = []
  for (const check of checksFor(subject)) {
    const { group, name } = check
    const problem = await problemOf(check, subject)
    if (!json) {
      if (outcomes.at(-1)?.group !== group) terminal.out(terminal.style('bold', group))
      terminal.out(printOutcome({ group, name, problem }, terminal))
    }
    outcomes.push({ group, name, problem })
  }
  const failing = outcomes.filter(({ problem }) => problem !== null).length
  if (json) terminal.out(printJson(outcomes.map((outcome) => ({ ...outcome }))))
  else terminal.out(`\n${outcomes.length - failing} of ${count(outcomes.length, 'check')} passed`)
  return failing > 0 ? 1 : 0
}

async function problemOf(check: Check, subject: Subject): Promise<string | null> {
  const late = new AbortController()
  const tooLate = sleep(deadline, `it did not end within ${deadline / 1_000} seconds`, { signal: late.signal })
  const rig = await Rig.open(subject)
  try {
    return await Promise.race([Promise.resolve(check.run(rig)).then(() => null), tooLate])
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  } finally {
    late.abort()
    await Promise.allSettled([tooLate, rig.close()])
  }
}

function printOutcome({ name, problem }: Outcome, terminal: Terminal): string {
  if (problem === null) return `  ${terminal.style('green', '✔')} ${name}`
  const why = problem.trimEnd().replaceAll(/^/gm, '      ')
  return `  ${terminal.style('red', '✘')} ${name}\n${why}`
}

/** Fields that checks set themselves. */
const ownFields = ['headers', 'timeouts', 'max_connections', 'endpoint_base_urls']

/**
 * A provider type of a valid configuration as a subject, with the settings of the first provider of that type.
 * @param settings settings to use instead
 */
export function subjectOf(plugin: AnyProvider, configuration: Configuration, settings?: JsonObject): Subject {
  const { registry, settings: file } = configuration
  if (file === undefined) throw new Error('the configuration is not right')
  const declared = file.providers.find(({ type }) => type === plugin.name)?.config ?? {}
  const fields = Object.entries(declared).filter(([name]) => !ownFields.includes(name))
  return {
    plugin,
    settings: settings ?? Object.fromEntries(fields),
    codecs: registry.codecs,
    host() {
      const gateway = emptyGateway(productVersion())
      const kept = gateway.keep.lease()
      const hostFor = hostMaker({ gateway, kept }, configuration, makeCatalog(file, new Map()))
      const services = unopenedViews(registry, file)(plugin.uses)
      return { host: hostFor({ name: `providers/${plugin.name}` }), services, close: () => kept.close() }
    },
  }
}
