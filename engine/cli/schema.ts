import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { printDiagnostic } from '../config/diagnostics.ts'
import { exampleSettings } from './editor-example.ts'
import { pipelineSchema, settingsSchema } from './editor-schemas.ts'
import { productVersion } from '../version.ts'
import { namesOfRecords } from '../records/records.ts'
import { loadConfiguration } from '../live/load-configuration.ts'
import type { Configuration } from '../records/configuration.ts'
import type { KnownNames } from '../pipeline/named.ts'
import { isPattern } from '../spec/model-pattern.ts'
import { fixtureSchema } from './fixture/format.ts'
import type { CommonOptions, Terminal } from './terminal.ts'
import { columns, printJson } from '../kit/text.ts'

/** Writes the JSON Schemas for editors and the example configuration, or prints the OpenAPI document. */
export async function schema(
  { config, json, out, openapi }: CommonOptions & { readonly out: string; readonly openapi?: true },
  terminal: Terminal,
): Promise<number> {
  const { environment, folder } = terminal
  const configuration = await loadConfiguration({ file: config, root: folder, environment })
  if (configuration.registry.incomplete) {
    for (const diagnostic of configuration.diagnostics) terminal.error(printDiagnostic(diagnostic))
    return 1
  }
  if (openapi) {
    const { openApi } = await import('../openapi/document.ts')
    terminal.out(printJson(openApi(configuration, productVersion())))
    return 0
  }
  const written = await writeFiles(schemaFiles(configuration), resolve(folder, out))
  if (json) terminal.out(printJson(written.map(({ name, changed }) => ({ file: join(out, name), changed }))))
  else terminal.out(printWritten(written, out))
  return 0
}

/** The generated files of the configuration's folder, by name. */
export function schemaFiles({ registry, pipelines, records }: Configuration): ReadonlyMap<string, string> {
  const single = Object.entries(namesOfRecords(records, registry)).map(([type, names]) => [
    type,
    { words: names?.words.filter((name) => !(names.patterns === true && isPattern(name))) ?? [] },
  ])
  const names = { ...Object.fromEntries(single), pipeline: { words: pipelines.map(({ name }) => name) } } as KnownNames
  return new Map([
    ['pipeline.schema.json', `${printJson(pipelineSchema(registry, names))}\n`],
    ['sluice.schema.json', `${printJson(settingsSchema(registry))}\n`],
    ['fixture.schema.json', `${printJson(fixtureSchema)}\n`],
    ['sluice.example.yaml', exampleSettings(registry)],
  ])
}

/** A generated file, and whether it had to be written. */
interface Written {
  readonly name: string
  readonly changed: boolean
}

/** One line for each file of a folder. */
export function printWritten(written: readonly Written[], folder: string): string {
  return columns(written.map(({ name, changed }) => [join(folder, name), changed ? 'written' : 'unchanged']))
}

/** Writes the files of a folder whose contents differ. */
export async function writeFiles(files: ReadonlyMap<string, string>, folder: string): Promise<Written[]> {
  await mkdir(folder, { recursive: true })
  return Promise.all(
    [...files].map(async ([name, text]) => {
      const path = join(folder, name)
      const before = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOENT') return undefined
        throw error
      })
      if (before !== text) await writeFile(path, text)
      return { name, changed: before !== text }
    }),
  )
}
