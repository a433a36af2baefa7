import type { AnyAction } from '../spec/action.ts'
import type { AnyCommand } from '../spec/command.ts'
import type { AnyGuard } from '../spec/guard.ts'
import type { AnyProvider } from '../spec/provider.ts'
import type { AnyService } from '../spec/service.ts'
import type { AnyStage } from '../spec/stage.ts'
import type { Component, Registry } from './registry.ts'
import { didYouMean } from './suggest.ts'

/** Reports a finding about a component, which is shown at the file that exports it. */
export type ReportOf = (
  component: { readonly kind: Component['kind']; readonly name: string },
  code: string,
  message: string,
) => unknown

/** Finds uses of unknown services, and services that use each other in a circle. */
export function checkUses(
  registry: Pick<Registry, 'stages' | 'actions' | 'providers' | 'guards' | 'services' | 'commands' | 'incomplete'>,
  report: ReportOf,
): void {
  const { stages, actions, providers, guards, services, commands, incomplete } = registry
  const all: readonly ReadonlyMap<string, User>[] = [stages, actions, providers, guards, services, commands]
  for (const user of all.flatMap((some) => [...some.values()]))
    for (const used of user.uses ?? []) {
      if (services.has(used) || incomplete) continue
      const message = `${user.kind} "${user.name}" uses the service "${used}", which does not exist`
      report(user, 'unknown-service', message + didYouMean(used, services.keys()))
    }
  for (const [first, ...others] of circles(services)) {
    if (first === undefined) continue
    const names = [first, ...others, first].map(({ name }) => name)
    report(first, 'service-cycle', `services use each other in a circle: ${names.join(' -> ')}`)
  }
}

type User = AnyStage | AnyAction | AnyProvider | AnyGuard | AnyService | AnyCommand

/** Services without circles, each after those that it uses. */
export function inOrder(services: Services): AnyService[] {
  const ordered = new Set<AnyService>()
  const visit = (service: AnyService) => {
    for (const name of service.uses) {
      const used = services.get(name)
      if (used !== undefined && !ordered.has(used)) visit(used)
    }
    ordered.add(service)
  }
  services.forEach(visit)
  return [...ordered]
}

type Services = ReadonlyMap<string, AnyService>

/** Each circle once. */
function circles(services: Services): AnyService[][] {
  const found: AnyService[][] = []
  const done = new Set<AnyService>()
  const visit = (service: AnyService, way: readonly AnyService[]) => {
    if (way.includes(service)) found.push(way.slice(way.indexOf(service)))
    else if (!done.has(service))
      for (const name of service.uses) {
        const used = services.get(name)
        if (used !== undefined) visit(used, [...way, service])
      }
    done.add(service)
  }
  for (const service of services.values()) visit(service, [])
  return found
}
