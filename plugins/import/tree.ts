import { readFile, stat } from 'node:fs/promises'
import { LineCounter, isAlias, isMap, isScalar, isSeq, parseDocument } from 'yaml'
import type { Document, Node as YamlNode } from 'yaml'
import type { Json } from '../../engine/index.ts'
import { isObject } from '../../engine/kit.ts'

/** A value of a file, with the place where it stands. */
export interface Node {
  readonly file: string
  /** From 1. */
  readonly line: number
  /** Keys as they are written: `model_list[0].litellm_params.rpm`; empty: the whole file. */
  readonly path: string
  readonly kind: 'map' | 'list' | 'leaf'
  /** The value of a leaf. */
  readonly value: string | number | boolean | null
  /** The text of a leaf: that of a number or a date as it is written. */
  readonly text: string
  /** Members of a map by their keys, and of a list by their positions. */
  readonly members: ReadonlyMap<string, Node>
  /** Values of the same keys further up in the file, which do not count. */
  readonly replaced?: readonly Node[]
}

/** A file that cannot be read as a configuration. Its message quotes nothing of the file. */
export class Unreadable extends Error {
  override readonly name = 'Unreadable'
}

const mostBytes = 8 * 1024 * 1024
/** Most values of a file, those behind aliases counted each time. */
const mostNodes = 200_000
const mostDepth = 64

/** Reads a file of YAML or JSON. Rejects with `Unreadable`. */
export async function readTree(path: string, name: string): Promise<Node> {
  const unreadable = (why: string) => new Unreadable(`${name} ${why}`)
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => {
    throw unreadable(`cannot be read: ${error.code ?? 'unknown error'}`)
  })
  if (!found.isFile()) throw unreadable('is no file')
  if (found.size > mostBytes) throw unreadable(`has more than ${mostBytes} bytes`)
  return parseTree(await readFile(path, 'utf8'), name)
}

/**
 * Parses YAML, of which JSON is a part, as PyYAML does: version 1.1, with merge keys; of two equal keys, the last one
 * counts. Throws `Unreadable`.
 */
export function parseTree(text: string, file: string): Node {
  const lines = new LineCounter()
  // Messages of the parser quote lines, which may hold secrets.
  const document = parseDocument(text, {
    version: '1.1',
    merge: true,
    uniqueKeys: false,
    lineCounter: lines,
    prettyErrors: false,
  })
  const [error] = document.errors
  if (error) throw new Unreadable(`${file}:${lines.linePos(error.pos[0]).line} is not valid YAML (${error.code})`)
  return new TreeMaker(document, lines, file).made()
}

const nothing: ReadonlyMap<string, Node> = new Map()

class TreeMaker {
  readonly #document: Document
  readonly #lines: LineCounter
  readonly #file: string
  #count = 0

  constructor(document: Document, lines: LineCounter, file: string) {
    this.#document = document
    this.#lines = lines
    this.#file = file
  }

  made(): Node {
    return this.#node(this.#document.contents, '', 1, 0)
  }

  #node(given: YamlNode | null, path: string, around: number, depth: number): Node {
    const line = given?.range ? this.#lines.linePos(given.range[0]).line : around
    this.#count += 1
    if (this.#count > mostNodes || depth > mostDepth)
      throw new Unreadable(`${this.#file}:${line} has more than ${mostNodes} values, or more than ${mostDepth} levels`)
    const place = { file: this.#file, line, path }
    const yaml = isAlias(given) ? (given.resolve(this.#document) as YamlNode | undefined) : given
    if (isAlias(given) && yaml === undefined)
      throw new Unreadable(`${this.#file}:${line} is not valid YAML (an anchor is missing)`)
    if (isMap(yaml)) {
      const members = new Map<string, Node>()
      const replaced = this.#addMembers(yaml, members, path, line, depth)
      const more = replaced.length > 0 ? { replaced } : {}
      return { ...place, kind: 'map', value: null, text: '', members, ...more }
    }
    if (isSeq(yaml)) {
      const items = yaml.items.map(
        (item, at) => [String(at), this.#node(item as YamlNode | null, `${path}[${at}]`, line, depth + 1)] as const,
      )
      return { ...place, kind: 'list', value: null, text: '', members: new Map(items) }
    }
    const { value = null, source, type } = isScalar(yaml) ? yaml : {}
    const isPlain = type === 'PLAIN' && source !== undefined
    if (value === null) return { ...place, kind: 'leaf', value, text: '', members: nothing }
    // A date, for one, is taken as it is written.
    const usual = ['string', 'number', 'boolean'].includes(typeof value) ? (value as string | number | boolean) : ''
    const text = isPlain ? source : String(usual)
    return { ...place, kind: 'leaf', value: usual === '' ? text : usual, text, members: nothing }
  }

  /** Adds the members of a map, and returns those that do not count. Those that `<<` brings stand back behind its own. */
  #addMembers(map: YamlNode | null, members: Map<string, Node>, path: string, around: number, depth: number): Node[] {
    const replaced: Node[] = []
    if (!isMap(map)) return replaced
    const merged: (YamlNode | null)[] = []
    for (const { key, value } of map.items) {
      const name = isScalar(key) ? ((key.type === 'PLAIN' ? key.source : undefined) ?? String(key.value)) : String(key)
      if (name === '<<') merged.push(value as YamlNode | null)
      else {
        const line = isScalar(key) && key.range ? this.#lines.linePos(key.range[0]).line : around
        const made = this.#node(value as YamlNode | null, path === '' ? name : `${path}.${name}`, line, depth + 1)
        const before = members.get(name)
        if (before) replaced.push(before)
        // A map or a list begins where its key stands.
        members.set(name, { ...made, line })
      }
    }
    for (const one of merged.flatMap((given) => this.#mapsIn(given))) {
      const brought = new Map<string, Node>()
      this.#addMembers(one, brought, path, around, depth + 1)
      for (const [name, node] of brought) if (!members.has(name)) members.set(name, node)
    }
    return replaced
  }

  #mapsIn(given: YamlNode | null): (YamlNode | null)[] {
    const yaml = isAlias(given) ? (given.resolve(this.#document) as YamlNode | undefined) : given
    return isSeq(yaml) ? yaml.items.flatMap((item) => this.#mapsIn(item as YamlNode | null)) : [yaml ?? null]
  }
}

/** A value of a database as a tree: its texts are changed by `open`. */
export function treeOf(value: Json | undefined, path: string, open: (text: string, path: string) => string): Node {
  const place = { file: 'database', line: 0, path }
  const entries = Array.isArray(value)
    ? value.map((item, index) => [String(index), `${path}[${index}]`, item] as const)
    : Object.entries(isObject(value) ? value : {}).map(([key, member]) => [key, `${path}.${key}`, member] as const)
  const members = new Map(entries.map(([key, at, member]) => [key, treeOf(member, at, open)]))
  if (typeof value === 'object' && value !== null)
    return { ...place, kind: Array.isArray(value) ? 'list' : 'map', value: null, text: '', members }
  const opened = typeof value === 'string' ? open(value, path) : ((value ?? null) as Node['value'])
  return { ...place, kind: 'leaf', value: opened, text: opened === null ? '' : String(opened), members: nothing }
}

/** The values of a node that have no members: what a report must speak of. */
export function leavesOf(node: Node): readonly Node[] {
  return node.members.size === 0 ? [node] : [...node.members.values()].flatMap(leavesOf)
}

/** A node by its keys; undefined: there is none. */
export function at(node: Node | undefined, ...keys: readonly (string | number)[]): Node | undefined {
  return keys.reduce<Node | undefined>((found, key) => found?.members.get(String(key)), node)
}

/** The members of a map with their keys; none for anything else. */
export function membersOf(node: Node | undefined): readonly (readonly [string, Node])[] {
  return node?.kind === 'map' ? [...node.members] : []
}

/** The items of a list; a single value counts as a list of one, as in Python's configurations. */
export function itemsOf(node: Node | undefined): readonly Node[] {
  if (node === undefined || isEmpty(node)) return []
  return node.kind === 'list' ? [...node.members.values()] : [node]
}

/** Whether a node says nothing: null, or a map or list without members. */
export function isEmpty(node: Node): boolean {
  return node.kind === 'leaf' ? node.value === null : node.members.size === 0
}

/** The number of a leaf, which may be written as a text; undefined: it is none. */
export function numberOf(node: Node | undefined): number | undefined {
  if (node?.kind !== 'leaf' || typeof node.value === 'boolean' || !/^[+-]?[\d.]/.test(node.text)) return undefined
  const number = Number(node.text.replaceAll('_', ''))
  return Number.isFinite(number) ? number : undefined
}

/** Whether a leaf is true, which may be written as a text; undefined: it is neither. */
export function flagOf(node: Node | undefined): boolean | undefined {
  if (node?.kind !== 'leaf') return undefined
  const word = String(node.value).toLowerCase()
  return ['true', 'false'].includes(word) ? word === 'true' : undefined
}

/** The text of a leaf that is not empty; undefined: it is none. */
export function textOf(node: Node | undefined): string | undefined {
  return node?.kind === 'leaf' && node.value !== null && node.text !== '' ? node.text : undefined
}
