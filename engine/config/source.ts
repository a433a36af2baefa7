import { hash } from 'node:crypto'
import { isAlias, isMap, isScalar, isSeq, LineCounter, parseDocument } from 'yaml'
import type { Document, Node, Pair, Scalar, YAMLMap } from 'yaml'
import type { Json } from '../spec/json.ts'
import type { Diagnostic, Path } from './diagnostics.ts'
import { interpolate } from './interpolate.ts'
import type { Environment } from './interpolate.ts'
import { parseJson } from '../json/parse.ts'
import { prepared } from './prepared.ts'
import type { PreparedYaml } from './prepared.ts'

/** A text whose `${NAME}` has neither a value nor a default. */
export interface Missing {
  readonly path: Path
  readonly name: string
}

/** A YAML file as data with the position of each value. */
export interface Source {
  /** The file name shown in diagnostics. */
  readonly file: string
  /** The data with `${NAME}` expanded; null if the file is not valid YAML. */
  readonly value: Json
  /** Unset variables, which expand to nothing. */
  readonly missing: readonly Missing[]
  /** Whether the text at this path came from the environment, and may therefore stand for a number or a boolean. */
  interpolated(path: Path): boolean
  /** The YAML of the value at this path, without its indentation; the whole file for the empty path. Absent: it is no YAML. */
  textOf?(path: Path): string
  /**
   * A finding at the value of this path, or at its key; if the path does not exist, at its nearest existing ancestor.
   */
  report(path: Path, code: string, message: string, at?: 'key' | 'value'): Diagnostic
}

const unquoted = 'inside { } and [ ], text with ${...} must stand in quotes'

/** Maximum bytes of a configuration file. */
export const sizeLimit = 1024 * 1024
/** Maximum values of a document after alias expansion; values in maps count twice. */
const valueLimit = 100_000
const depthLimit = 64
const tooMuch = 'the document is nested too deeply, or its aliases expand to too many values'

/** The places of values by `printPath`: offset of the key, offsets of the value's start and end. */
export type Places = Map<string, { readonly key: number; readonly value: number; readonly end: number }>

/**
 * Parses YAML 1.2. Syntax errors, duplicate keys, unknown tags, exploding aliases and malformed `${...}` become
 * diagnostics; everything that can be parsed is still returned.
 * @param places gets the places of all values
 */
export function readSource(
  file: string,
  text: string,
  environment: Environment,
  places: Places = new Map(),
): { source: Source; diagnostics: Diagnostic[] } {
  const lines = new LineCounter()
  const diagnostics: Diagnostic[] = []
  const fromEnvironment = new Set<string>()
  const missing: Missing[] = []

  const point = (offset: number, code: string, message: string): Diagnostic => {
    const { line, col } = lines.linePos(offset)
    return { file, line: Math.max(line, 1), column: Math.max(col, 1), code, message }
  }
  const report: Source['report'] = (path, code, message, at = 'value') => {
    for (let length = path.length; length >= 0; length--) {
      const place = places.get(printPath(path.slice(0, length)))
      if (place) return point(length === path.length ? place[at] : place.value, code, message)
    }
    return point(0, code, message)
  }
  const textOf = (path: Path): string => {
    const place = path.length === 0 ? undefined : places.get(printPath(path))
    if (place === undefined) return text
    const indent = lines.linePos(place.value).col - 1
    const outdented = (line: string) => (line.slice(0, indent).trim() === '' ? line.slice(indent) : line)
    const [first = '', ...others] = text.slice(place.value, place.end).split('\n')
    return [first, ...others.map(outdented)].join('\n')
  }
  const interpolated = (path: Path) => fromEnvironment.has(printPath(path))
  const done = (value: Json) => ({
    source: { file, value, missing, report, interpolated, textOf },
    diagnostics,
  })
  if (Buffer.byteLength(text) > sizeLimit) {
    diagnostics.push(point(0, 'too-large', `the file is larger than ${sizeLimit} bytes`))
    return done(null)
  }

  const ready = prepared.yaml[hash('sha256', text)]
  if (ready !== undefined) {
    const { value, places: known } = parseJson(ready) as PreparedYaml
    for (const [path, key, value, end] of known) places.set(path, { key, value, end })
    for (let at = 0; at >= 0; at = text.indexOf('\n', at) + 1 || -1) lines.addNewLine(at)
    return done(value)
  }

  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, logLevel: 'error' })
  // After the first syntax error the rest of the document is a guess; duplicate keys are certain.
  const [wrong] = document.errors.filter(({ code }) => code !== 'DUPLICATE_KEY')
  const duplicates = document.errors.filter(({ code }) => code === 'DUPLICATE_KEY')
  for (const { pos, message } of [...(wrong ? [wrong] : []), ...duplicates, ...document.warnings])
    diagnostics.push(point(pos[0], 'yaml', text.startsWith('${', pos[0] - 1) ? unquoted : firstLine(message)))
  if (document.errors.length > 0) return done(null)

  let values = 0
  const read = (node: Node | null | undefined, path: Path, key: number): Json => {
    const start = node?.range?.[0] ?? key
    places.set(printPath(path), { key, value: start, end: node?.range?.[1] ?? start })
    if (++values > valueLimit || path.length > depthLimit) throw new Refused(start, tooMuch)
    if (isAlias(node)) return read(resolved(node, document, start), path, key)
    if (isSeq(node)) return node.items.map((item, index) => read(item as Node, [...path, index], start))
    if (isMap(node))
      return Object.fromEntries(
        [...pairsOf(node, start, path.length)].map(([name, pair]) => {
          const at = (pair.key as Node).range?.[0] ?? start
          return [name, read(pair.value as Node | null, [...path, name], at)]
        }),
      )
    return isScalar(node) ? scalar(node, path, start) : null
  }
  /** The entries of a map by key: its own, and those of maps under its merge key that it does not override. */
  const pairsOf = (map: YAMLMap, start: number, depth: number): Map<string, Pair> => {
    values += map.items.length
    if (values > valueLimit || depth > depthLimit) throw new Refused(start, tooMuch)
    const own = map.items.filter((pair) => !isMerge(pair))
    const found = new Map(own.map((pair) => [keyText(pair.key, start), pair]))
    for (const { key, value } of map.items.filter(isMerge)) {
      const at = (key as Node).range?.[0] ?? start
      for (const from of mergedMaps(value as Node | null, document, at))
        for (const [name, pair] of pairsOf(from, at, depth + 1)) if (!found.has(name)) found.set(name, pair)
    }
    return found
  }
  const scalar = (node: Scalar, path: Path, start: number): Json => {
    const { value } = node
    if (typeof value === 'number' && !Number.isFinite(value)) throw new Refused(start, 'a number must be finite')
    if (value === null || typeof value === 'number' || typeof value === 'boolean') return value
    if (typeof value !== 'string') throw new Refused(start, 'a value must be a text, a number, true, false or null')
    const filled = interpolate(value, environment)
    if (filled.problem !== undefined) diagnostics.push(point(start, 'interpolation', filled.problem))
    for (const name of filled.missing) missing.push({ path, name })
    if (filled.text !== value) fromEnvironment.add(printPath(path))
    return filled.text
  }
  try {
    return done(read(document.contents, [], 0))
  } catch (error) {
    if (!(error instanceof Refused)) throw error
    diagnostics.push(point(error.offset, 'yaml', error.message))
    return done(null)
  }
}

class Refused extends Error {
  readonly offset: number
  constructor(offset: number, message: string) {
    super(message)
    this.offset = offset
  }
}

function resolved(
  node: Node & { resolve(document: Document): Node | undefined },
  document: Document,
  start: number,
): Node {
  const target = node.resolve(document)
  if (target === undefined) throw new Refused(start, 'the alias names no anchor before it')
  return target
}

/** `<<`, the merge key (YAML 1.1, https://yaml.org/type/merge.html). */
function isMerge({ key }: Pair): boolean {
  return isScalar(key) && key.value === '<<' && key.type === 'PLAIN'
}

/** The maps under a merge key: one, or those in a list. */
function mergedMaps(value: Node | null, document: Document, start: number): YAMLMap[] {
  const opened = (node: unknown) => (isAlias(node) ? resolved(node, document, start) : node)
  const given = opened(value)
  const maps = isSeq(given) ? given.items.map(opened) : [given]
  if (!maps.every((map) => isMap(map))) throw new Refused(start, '"<<" takes a map or a list of maps')
  return maps
}

function keyText(key: unknown, start: number): string {
  if (isScalar(key) && ['string', 'number', 'boolean'].includes(typeof key.value)) return String(key.value)
  throw new Refused(start, 'a key must be plain text')
}

function firstLine(text: string): string {
  return text.split('\n', 1)[0] ?? text
}

function printPath(path: Path): string {
  return path.join('\u0000')
}
