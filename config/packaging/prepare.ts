// What a package brings ready-made, so that no start makes it again: validators of the schemas that it ships, and its
// pipelines as data. The validators are those that a gateway compiles here, so that nothing has to list them.
import { hash } from 'node:crypto'
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createRequire } from 'node:module'
import { Ajv2020, stringify } from 'ajv/dist/2020.js'
import type { ValidateFunction } from 'ajv/dist/2020.js'
import type { Registry } from '../../engine/config/registry.ts'
import { shipped } from '../../engine/config/shipped.ts'
import { readSource } from '../../engine/config/source.ts'
import type { Places } from '../../engine/config/source.ts'
import { compileSchema } from '../../engine/config/validate.ts'
import { openGateway } from '../../engine/gateway.ts'
import { makeLog } from '../../engine/telling/log.ts'
import { Secrets } from '../../engine/secrets/redaction.ts'

const { default: standalone } = createRequire(import.meta.url)('ajv/dist/standalone') as {
  readonly default: (ajv: Ajv2020, valid: ValidateFunction) => string
}

/** Texts by the keys under which the engine looks for them. */
export interface Prepared {
  /** Code of functions that make the validators of every start. */
  readonly first: ReadonlyMap<string, string>
  /** The same of validators that are needed later, or only by some configurations. */
  readonly later: ReadonlyMap<string, string>
  /** YAML files as JSON. */
  readonly yaml: ReadonlyMap<string, string>
}

export async function prepare(): Promise<Prepared> {
  const first = new Map<string, string>()
  const later = new Map<string, string>()
  recordCompiling((use, key, code) => (use === 'settings' ? first : later).set(key, code))
  const registry = await started()
  recordCompiling((_, key, code) => later.set(key, code))
  for (const { config } of [...registry.stages.values(), ...registry.providers.values()])
    compileSchema(config as object)
  for (const { schema } of registry.records.values()) compileSchema(schema as object)
  return { first, later, yaml: documents() }
}

/** The registry of a gateway that was started with the shipped configuration, until it was warm. */
async function started(): Promise<Registry> {
  const root = mkdtempSync(join(tmpdir(), 'sluice-prepare-'))
  try {
    const environment = { PORT: '0', HOST: '127.0.0.1' }
    const log = makeLog({ level: 'warn', destination: process.stderr })
    const gateway = await openGateway({ file: 'config/sluice.yaml', root, environment, log, secrets: new Secrets() })
    await gateway.warm
    const { registry } = gateway.live.current
    await gateway.close(0)
    return registry
  } finally {
    rmSync(root, { recursive: true, force: true })
  }
}

type Use = 'settings' | 'body'
type Compile = (this: Ajv2020, schema: object) => ValidateFunction
const { compile } = Ajv2020.prototype as unknown as { compile: Compile }

/** Hands the code of every schema that this process compiles from now on to `take`. */
function recordCompiling(take: (use: Use, key: string, code: string) => void): void {
  const recording: Compile = function (schema) {
    this.opts.code.source = true
    const valid = compile.call(this, schema)
    const use = this.opts.verbose ? 'settings' : 'body'
    // Alternatives within a schema, which are compiled to explain a mistake, are not prepared.
    if (this.opts.strict !== false || this.opts.strictNumbers)
      take(use, hash('sha256', `${use} ${JSON.stringify(schema)}`), codeOf(this, valid, schema))
    return valid
  }
  Object.assign(Ajv2020.prototype, { compile: recording })
}

/** A function of the schema, the keywords and `require`, as text. The schema is not in it a second time. */
function codeOf(ajv: Ajv2020, valid: ValidateFunction, schema: object): string {
  const [, name = '', code = ''] =
    /^"use strict";module\.exports = (\w+);module\.exports\.default = \w+;(.*)$/s.exec(standalone(ajv, valid)) ?? []
  if (code === '') throw new Error('the library prints its code in another form')
  const body = code.split(` = ${stringify(schema).toString()};`).join(' = schema;')
  return `(schema, keywords, require) => {${body};return ${name}}`
}

/** The YAML files whose data does not depend on the environment, as the engine reads them. */
function documents(): Map<string, string> {
  const files = readdirSync(shipped.pipelines, { recursive: true, encoding: 'utf8' })
  const texts = files.filter((file) => file.endsWith('.yaml') && !file.endsWith('.test.yaml'))
  return new Map(
    texts.flatMap((file): [string, string][] => {
      const text = readFileSync(join(shipped.pipelines, file), 'utf8')
      const places: Places = new Map()
      const { source, diagnostics } = readSource(file, text, {}, places)
      if (diagnostics.length > 0) throw new Error(`${file} has mistakes`)
      if (text.includes('${')) return []
      const placed = [...places].map(([path, { key, value, end }]) => [path, key, value, end])
      return [[hash('sha256', text), JSON.stringify({ value: source.value, places: placed })]]
    }),
  )
}
