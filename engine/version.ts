import { readFileSync } from 'node:fs'
import { findPackageJSON } from 'node:module'

/** Version of the product, as its package says. */
export function productVersion(): string {
  const file = findPackageJSON('.', import.meta.url)
  if (file === undefined) return 'unknown'
  const { version } = JSON.parse(readFileSync(file, 'utf8')) as { version?: string }
  return version ?? 'unknown'
}
