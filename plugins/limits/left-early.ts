import { isObject } from '../../engine/kit.ts'
import type { Scope } from '../../engine/index.ts'

/**
 * Whether the client left while a provider was being asked, before an answer began. The provider may bill such a
 * request, and nobody knows what.
 */
export function leftEarly(code: string | undefined, { notes }: Pick<Scope, 'notes'>): boolean {
  const tries = notes.get('tries')
  if (code !== 'client_closed' || !Array.isArray(tries)) return false
  const last = tries.at(-1) as unknown
  return isObject(last) && last['code'] === code
}
