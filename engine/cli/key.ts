import { loadConfiguration } from '../live/configuration.ts'
import { printDiagnostic } from '../config/diagnostics.ts'
import { StartError, openDatabase } from '../store/database.ts'
import { ApiKeys, NameTaken } from '../store/keys.ts'

export interface CreateKeyOptions {
  readonly config: string
  readonly name: string
  /** Models the key may use; absent: all. */
  readonly models?: readonly string[]
  /** RFC 3339. */
  readonly expires?: string
  readonly json: boolean
}

/** Makes an API key and prints its text, once. Answers the exit code. */
export async function createKey({ config, name, models, expires, json }: CreateKeyOptions): Promise<number> {
  const expiresAt = expires === undefined ? undefined : Date.parse(expires)
  if (Number.isNaN(expiresAt)) {
    console.error(`"${expires}" is no date; write it like 2027-01-31 or 2027-01-31T12:00:00Z`)
    return 2
  }
  const { settings, diagnostics } = await loadConfiguration({ file: config, environment: process.env })
  if (!settings) {
    for (const diagnostic of diagnostics) console.error(printDiagnostic(diagnostic))
    return 1
  }
  try {
    const database = await openDatabase(settings.database.url)
    try {
      const keys = new ApiKeys(database)
      keys.declare(settings.api_keys)
      await keys.refresh()
      const { id, text } = await keys.createKey({
        name,
        ...(models ? { models } : {}),
        ...(expiresAt === undefined ? {} : { expiresAt }),
      })
      console.log(json ? JSON.stringify({ id, name, key: text }) : text)
      return 0
    } finally {
      await database.close()
    }
  } catch (error) {
    if (!(error instanceof NameTaken || error instanceof StartError)) throw error
    console.error(error.message)
    return 1
  }
}
