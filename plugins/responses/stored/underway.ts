import type { Host } from '../../../engine/index.ts'

/** What is being kept behind its client's back, by the id of the response: whoever asks for it waits until it is there. */
export function underway(host: Host): Map<string, Promise<void>> {
  return host.keep('responses.underway', () => new Map<string, Promise<void>>())
}
