import { readFileSync } from 'node:fs'
import { findPackageJSON } from 'node:module'
import { parseJson } from './json/parse.ts'

/** The version of the product, from its package.json. */
export function productVersion(): string {
  const file = findPackageJSON('.', import.meta.url)
  if (file === undefined) return 'unknown'
  const { version } = parseJson(readFileSync(file, 'utf8')) as { version?: string }
  return version ?? 'unknown'
}
