import { didYouMean } from '../../engine/kit.ts'
import type { ApiKeys } from './api-keys.ts'
import type { StoredKey } from './stored-keys.ts'

/**
 * Searches the database for a living key by its id or its name, in any case.
 * @param remedy what to do in the file with a key that it declares
 * @returns the key, or what to say of `wanted`
 */
export async function searchKey(
  keys: Pick<ApiKeys, 'stored' | 'declared'>,
  wanted: string,
  remedy: 'change' | 'remove',
): Promise<{ readonly found?: StoredKey; readonly why?: string }> {
  const stored = await keys.stored()
  const living = stored.filter(({ revoked_at: revoked }) => revoked === null)
  const isNamed = ({ name }: { readonly name: string }) => name.toLowerCase() === wanted.toLowerCase()
  const found = living.find(({ id }) => id === wanted) ?? living.find(isNamed)
  if (found) return { found }
  if (keys.declared.some(isNamed)) return { why: `is declared in the configuration file: ${remedy} it there` }
  if (stored.some((key) => key.id === wanted || isNamed(key))) return { why: 'is revoked already' }
  return {
    why: `is not there${didYouMean(
      wanted,
      living.map(({ name }) => name),
    )}`,
  }
}
