import { routeKey } from '../config/actions.ts'
import type { Diagnostic } from '../config/diagnostics.ts'
import { printPlace, reportAt, within } from './nodes.ts'
import type { Pipeline, Place } from './nodes.ts'

/** Finds routes and names claimed by two pipelines, and routes that cannot be served as sockets. */
export function checkNames(pipelines: readonly Pipeline[]): Diagnostic[] {
  const taken = new Map<string, Place>()
  const claim = (key: string, what: string, place: Place): Diagnostic[] => {
    const other = taken.get(key)
    if (other === undefined) taken.set(key, place)
    return other === undefined ? [] : [reportAt(place, 'duplicate', `${what} is already there: ${printPlace(other)}`)]
  }
  return pipelines.flatMap(({ name, routes, relays, place }) => [
    ...(name === '' ? [] : claim(`pipeline ${name}`, `the pipeline "${name}"`, within(place, 'name'))),
    ...routes.flatMap(({ method, path }, index) => [
      ...claim(routeKey({ method, path }), `the route "${method} ${path}"`, within(place, 'routes', index)),
      ...(relays && method !== 'WS' ? [noSocket(method, within(place, 'routes', index))] : []),
    ]),
  ])
}

function noSocket(method: string, place: Place): Diagnostic {
  const message = `a pipeline with "socket: relay" serves only WebSockets, and this route is ${method}`
  return reportAt(place, 'no-socket', message)
}
