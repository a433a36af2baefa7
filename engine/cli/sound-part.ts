import { isDeepStrictEqual } from 'node:util'
import { isObject } from '../spec/json.ts'
import type { Json } from '../spec/json.ts'
import type { Diagnostic, Path } from '../config/diagnostics.ts'
import type { Environment } from '../config/interpolate.ts'
import { loadSettings } from '../records/load-settings.ts'
import type { LoadedSettings } from '../records/load-settings.ts'
import type { Registry } from '../config/registry.ts'
import { readSource } from '../config/source.ts'
import type { Source } from '../config/source.ts'
import type { Vendors } from '../records/vendors.ts'

/** Fields that say which stores are opened, and the variables that override them. */
const addresses = { database: 'DATABASE_URL', key_value: 'REDIS_URL' } as const

/**
 * The settings of a configuration file with findings, without the records, sections and fields that the findings are
 * about. Settings are undefined if a finding is about the address of a store, or if it cannot be known.
 */
export function soundPart(
  source: Source,
  registry: Registry,
  environment: Environment,
  vendors?: Vendors,
): LoadedSettings | undefined {
  // Without them it is unknown where records are.
  const needed = Object.entries(addresses).flatMap(([field, variable]) => (environment[variable] ? [] : [field]))
  const readable = isObject(source.value) ? source : soundBlocks(source, environment, needed)
  if (readable === undefined) return undefined
  const left: Path[] = []
  for (;;) {
    const { source: part, placeOf } = without(readable, left)
    const loaded = loadSettings(part, registry, environment, vendors)
    if (loaded.settings) return loaded
    const known = loaded.diagnostics
      .flatMap((finding) => partOf(readable, placeOf(finding)))
      .filter((place) => !left.some((one) => isDeepStrictEqual(one, place)))
    if (known.length === 0 || known.some(([field]) => needed.includes(String(field)))) return undefined
    left.push(...known)
  }
}

/**
 * The fields of a file that is not valid YAML, without those that are not valid by themselves. Undefined if the
 * addresses of its stores may be among these.
 */
function soundBlocks(source: Source, environment: Environment, needed: readonly string[]): Source | undefined {
  // A line without indentation begins a field of the file, whatever the lines before it are missing.
  const blocks = (source.textOf?.([]) ?? '').split(/^(?=[a-z_]{1,64}:)/m)
  const sound = blocks.filter((block) => {
    const { source: read, diagnostics } = readSource(source.file, block, environment)
    return isObject(read.value) && diagnostics.length === 0
  })
  const unsound = blocks.filter((block) => !sound.includes(block))
  if (unsound.some((block) => needed.some((field) => block.includes(field)))) return undefined
  return readSource(source.file, sound.join(''), environment).source
}

/** The smallest part of a file that can be left out: an entry of a list, a section, or a field; empty: there is none. */
function partOf({ value }: Source, place: Path | undefined): Path[] {
  const [field, entry] = place ?? []
  if (field === undefined) return []
  const given = isObject(value) ? value[field] : undefined
  const isSmall = entry !== undefined && (field === 'server_config' ? isObject(given) : Array.isArray(given))
  return [isSmall ? [field, entry] : [field]]
}

/** A source without some parts, and the place that its findings have in the whole one. */
function without(
  { value, missing, ...whole }: Source,
  left: readonly Path[],
): { readonly source: Source; readonly placeOf: (finding: Diagnostic) => Path | undefined } {
  const isLeft = (field: string | number, entry?: string | number) =>
    left.some((part) => part[0] === field && (part.length === 1 || part[1] === entry))
  const places = new Map<Diagnostic, Path>()
  const kept = new Map<string | number, readonly number[]>()
  const pruned = (field: string, given: Json): Json => {
    if (Array.isArray(given)) {
      kept.set(
        field,
        [...given.keys()].filter((index) => !isLeft(field, index)),
      )
      return given.filter((_, index) => !isLeft(field, index))
    }
    if (!isObject(given)) return given
    return Object.fromEntries(Object.entries(given).filter(([name]) => !isLeft(field, name)))
  }
  const part = Object.fromEntries(
    Object.entries(isObject(value) ? value : {}).flatMap(([field, given]) =>
      isLeft(field) || given === undefined ? [] : [[field, pruned(field, given)]],
    ),
  )
  const withIndex = (path: Path, change: (kept: readonly number[], index: number) => number | undefined): Path =>
    path.map((step, depth) =>
      depth === 1 && typeof step === 'number' ? (change(kept.get(path[0] ?? '') ?? [], step) ?? step) : step,
    )
  const inWhole = (path: Path) => withIndex(path, (indices, index) => indices[index])
  const source: Source = {
    ...whole,
    value: part,
    missing: missing
      .filter(({ path: [field = '', entry] }) => !isLeft(field, entry))
      .map(({ path, name }) => ({ path: withIndex(path, (indices, index) => indices.indexOf(index)), name })),
    interpolated: (path) => whole.interpolated(inWhole(path)),
    report(path, code, message, at) {
      const finding = whole.report(inWhole(path), code, message, at)
      places.set(finding, inWhole(path))
      return finding
    },
  }
  return { source, placeOf: (finding) => places.get(finding) }
}
