import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { basename, dirname, resolve } from 'node:path'
import { isSeq, parseDocument } from 'yaml'
import type { Node } from 'yaml'
import { printDiagnostic } from '../config/diagnostics.ts'
import type { Environment } from '../config/interpolate.ts'
import { shipped } from '../config/shipped.ts'
import { readSource } from '../config/source.ts'
import { loadConfiguration } from '../live/load-configuration.ts'
import { isObject } from '../spec/json.ts'
import type { Json } from '../spec/json.ts'
import { schemaFiles, writeFiles } from './schema.ts'
import { WrongUse } from './terminal.ts'
import type { CommonOptions, Terminal } from './terminal.ts'
import { printJson } from '../kit/text.ts'

/**
 * Writes a first configuration, and the schemas for editors next to it. It has the providers of the shipped
 * configuration whose environment variables are set, and their models, and lets others follow their variables. Keys
 * themselves are never written. An existing configuration is never overwritten.
 */
export async function init({ config, json }: CommonOptions, terminal: Terminal): Promise<number> {
  const { environment, folder } = terminal
  const path = resolve(folder, config)
  const text = starter(await readFile(shipped.config, 'utf8'), environment)
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, text, { flag: 'wx' }).catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'EEXIST' ? new WrongUse(`${config} already exists; nothing was written`) : error
  })
  const configuration = await loadConfiguration({ file: config, root: folder, environment })
  for (const diagnostic of configuration.diagnostics) terminal.error(printDiagnostic(diagnostic))
  const beside = await writeFiles(schemaFiles(configuration), dirname(path))
  if (json) terminal.out(printJson({ file: config, beside: beside.map(({ name }) => name) }))
  else
    terminal.out(
      `${config} was written, with the schemas for editors beside it:\n\n${text}\nNext: sluice check, then sluice`,
    )
  return configuration.diagnostics.length > 0 ? 1 : 0
}

/** The lines of the shipped configuration whose variables are set. */
function starter(text: string, environment: Environment): string {
  const { source } = readSource(basename(shipped.config), text, environment)
  const document = parseDocument(text)
  const linesOf = (section: string) => {
    const list = document.get(section)
    const values = isObject(source.value) ? source.value[section] : undefined
    if (!isSeq(list) || !Array.isArray(values)) throw new Error(`the shipped configuration has no list "${section}"`)
    return values.map((value: Json, index) => {
      const [start, end] = (list.items[index] as Node).range ?? [0, 0]
      const unset = source.missing.flatMap(({ path, name }) => (path[0] === section && path[1] === index ? [name] : []))
      return { value: isObject(value) ? value : {}, text: text.slice(start, end).trimEnd(), unset }
    })
  }
  const providers = linesOf('providers')
  const on = providers.filter(({ unset }) => unset.length === 0)
  const names = new Set(on.map(({ value }) => value['name']))
  const models = linesOf('models').filter(({ value }) => names.has(value['provider'] ?? null))
  return [
    `# yaml-language-server: $schema=./sluice.schema.json`,
    '# What this gateway serves; every setting: sluice.example.yaml. A model ending in * is whatever the provider has.',
    '# A vendor is on, with or without a line below, when its key is in the environment or in .env; off: only with a line.',
    'vendors: environment # "sluice check" says which are on, and why',
    'providers:',
    ...on.map((line) => `  - ${line.text}`),
    'models:',
    ...models.map((line) => `  - ${line.text}`),
    '',
  ].join('\n')
}
