import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

const folder = join(import.meta.dirname, '..', 'seams', 'record-stages')

/** The files of a plugin whose stages show and change records and sections, for pipelines of an operator. */
export const recordStages: Readonly<Record<string, string>> = Object.fromEntries(
  readdirSync(folder).map((name) => [`plugins/record-stages/${name}`, readFileSync(join(folder, name), 'utf8')]),
)
