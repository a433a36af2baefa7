import { isMoment } from '../config/cross-check.ts'
import { printDiagnostic } from '../config/diagnostics.ts'
import { settingsFormat } from '../config/settings.ts'
import { didYouMean } from '../config/suggest.ts'
import { loadConfiguration } from '../live/configuration.ts'
import { declaredKeys, modelNames } from '../live/declared-keys.ts'
import { openDatabase } from '../store/database.ts'
import { ApiKeys, NameTaken, keyPoll } from '../store/keys.ts'
import type { NewKey } from '../store/keys.ts'
import { WrongUse } from './terminal.ts'
import type { CommonOptions, Terminal } from './terminal.ts'

export interface CreateKeyOptions extends CommonOptions {
  readonly name: string
  /** Models the key may use, by name or alias, each text one or several with commas; absent: all. */
  readonly models?: readonly string[]
  /** A date, or a date and time (RFC 3339). */
  readonly expires?: string
}

/** Makes an API key and prints its text, once. Answers the exit code. */
export async function createKey({ config, json, ...asked }: CreateKeyOptions, terminal: Terminal): Promise<number> {
  const { environment, folder } = terminal
  const wanted = { name: nameOf(asked.name), ...momentOf(asked.expires) }
  const { settings, diagnostics } = await loadConfiguration({ file: config, root: folder, environment })
  if (!settings) {
    for (const diagnostic of diagnostics) terminal.error(printDiagnostic(diagnostic))
    return 1
  }
  const models = asked.models === undefined ? {} : { models: recordsOf(asked.models, modelNames(settings.models)) }
  const database = await openDatabase(settings.database.url)
  try {
    const keys = new ApiKeys(database)
    keys.declare(declaredKeys(settings))
    const { id, text } = await keys.createKey({ ...wanted, ...models })
    terminal.out(json ? JSON.stringify({ id, name: wanted.name, key: text }) : text)
    terminal.error(`Gateways that are running know it within ${keyPoll / 1000} seconds.`)
    return 0
  } catch (error) {
    if (!(error instanceof NameTaken)) throw error
    terminal.error(`sluice: ${error.message}`)
    return 1
  } finally {
    await database.close()
  }
}

/** A name as the configuration takes it. */
function nameOf(name: string): string {
  const { pattern, maxLength } = settingsFormat.properties.api_keys.items.properties.name
  if (name.length > maxLength || !new RegExp(pattern, 'u').test(name))
    throw new WrongUse(`the name of a key is 1 to ${maxLength} characters without spaces`)
  return name
}

function momentOf(text: string | undefined): Pick<NewKey, 'expiresAt'> {
  if (text === undefined) return {}
  if (!isMoment(text)) throw new WrongUse(`"${text}" is no date; write it like 2027-01-31 or 2027-01-31T12:00:00Z`)
  const expiresAt = Date.parse(text)
  if (expiresAt <= Date.now()) throw new WrongUse(`"${text}" has passed already`)
  return { expiresAt }
}

/** The models' own names. */
function recordsOf(texts: readonly string[], names: ReadonlyMap<string, string>): readonly string[] {
  const given = texts.flatMap((text) => text.split(',')).map((name) => name.trim())
  return given.map((name) => {
    const record = names.get(name)
    if (record === undefined) throw new WrongUse(`there is no model "${name}"${didYouMean(name, names.keys())}`)
    return record
  })
}
