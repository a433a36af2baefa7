import type { Ingress } from '../../../../engine/index.ts'
import type { StoredResponse } from './record.ts'

const word = 'responses.last'

/** The most recent response on the client's socket, whether it was to be stored or not. */
export function lastOnSocket(ingress: Ingress | undefined): StoredResponse | undefined {
  return ingress?.session?.get(word) as StoredResponse | undefined
}

/** Makes a response the most recent one on its client's socket; over HTTP nothing is kept. */
export function keepOnSocket(ingress: Ingress | undefined, record: StoredResponse): void {
  ingress?.session?.set(word, record)
}

export function forgetOnSocket(ingress: Ingress | undefined): void {
  ingress?.session?.delete(word)
}
