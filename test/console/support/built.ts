import { join } from 'node:path'
import { ensureBuilt } from '../../../console/build.ts'

/** The folder of the console, built from its sources of now. */
export function built(): string {
  const failure = ensureBuilt()
  if (failure !== undefined) throw new Error(`the console was not built: ${failure}`)
  return join(import.meta.dirname, '..', '..', '..', 'dist', 'console')
}
