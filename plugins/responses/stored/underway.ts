import type { Host } from '../../../engine/index.ts'

/** Responses that are stored after their answer was sent, by id. A request for one waits until it is stored. */
export function underway(host: Host): Map<string, Promise<void>> {
  return host.keep('responses.underway', () => new Map<string, Promise<void>>())
}
