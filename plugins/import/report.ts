import { count } from '../../engine/kit.ts'
import { isEmpty, leavesOf } from './tree.ts'
import type { Node } from './tree.ts'

/**
 * What became of a value. `mapped`: it stands in the new configuration; `default`: it is what the gateway does anyway;
 * `changed`: it is kept with a difference; `lost`: it is not kept.
 */
export type Status = 'mapped' | 'default' | 'changed' | 'lost'

/** What the report says of a value. */
export interface Item {
  readonly file: string
  /** From 1; 0: a row of a database. */
  readonly line: number
  readonly path: string
  readonly status: Status
  /** Where it stands now. */
  readonly to?: string
  /** What differs, or what to do instead. */
  readonly advice?: string
}

/** Where a value stands. */
export type Place = Pick<Node, 'file' | 'line' | 'path'>

/** Why an item stands before the others: clients notice it, or something is no longer limited. */
export type Weight = 'client' | 'limit'

/** What became of keys. */
export interface KeyCounts {
  imported: number
  /** Known already. */
  skipped: number
  /** Imported, and disabled because they would otherwise allow more than before: their names. */
  readonly disabled: string[]
  /** Not imported: their names. */
  readonly lost: string[]
}

const statuses = ['mapped', 'default', 'changed', 'lost'] as const

/** Gathers what became of each value of the files. */
export class Report {
  readonly #items = new Map<string, Item>()
  readonly #weights = new Map<string, Weight>()
  readonly #notes: string[] = []
  readonly keys: KeyCounts = { imported: 0, skipped: 0, disabled: [], lost: [] }

  mapped(place: Place, to: string): void {
    this.#add(place, { status: 'mapped', to })
  }

  default(place: Place, advice?: string): void {
    this.#add(place, { status: 'default', ...(advice === undefined ? {} : { advice }) })
  }

  changed(place: Place, advice: string, to?: string, weight?: Weight): void {
    this.#add(place, { status: 'changed', ...(to === undefined ? {} : { to }), advice }, weight)
  }

  lost(place: Place, advice: string, weight?: Weight): void {
    this.#add(place, { status: 'lost', advice }, weight)
  }

  /** Says something that no value of a file stands for. */
  note(text: string): void {
    this.#notes.push(text)
  }

  /** Whether something was said of a value, or of what contains it. */
  has({ file, path }: Place): boolean {
    return this.#items.has(keyOf(file, path))
  }

  /**
   * Speaks of every value that nothing was said of.
   * @param isSection whether a path is that of a section, which never speaks for its members unless it is lost
   */
  complete(roots: readonly Node[], isSection: (path: string) => boolean): void {
    const visit = (node: Node, isCovered: boolean): void => {
      const item = this.#items.get(keyOf(node.file, node.path))
      const speaksForAll = item !== undefined && (item.status === 'lost' || !isSection(node.path))
      for (const member of node.members.values()) visit(member, isCovered || speaksForAll)
      if (!isCovered && !speaksForAll)
        for (const leaf of replacedIn(node))
          if (!this.has(leaf)) this.default(leaf, 'the same key further down goes first')
      if (node.members.size > 0 || node.path === '' || isCovered || item !== undefined) return
      if (isEmpty(node) || node.value === '') this.default(node, 'says nothing')
      else this.lost(node, 'there is no such setting')
    }
    for (const root of roots) visit(root, false)
  }

  get items(): readonly Item[] {
    const ordered = [...this.#items.values()]
    const fileOrder = new Map(ordered.map(({ file }, index) => [file, index] as const).toReversed())
    return ordered.toSorted(
      (one, other) => (fileOrder.get(one.file) ?? 0) - (fileOrder.get(other.file) ?? 0) || one.line - other.line,
    )
  }

  get counts(): Readonly<Record<Status, number>> {
    const counted = statuses.map((status) => [status, this.items.filter((item) => item.status === status).length])
    return Object.fromEntries(counted) as Record<Status, number>
  }

  /** The exit code of the command. */
  exitCode(strict: boolean): 0 | 3 {
    const { lost, changed } = this.counts
    return lost > 0 || (strict && changed > 0) ? 3 : 0
  }

  toJSON(): object {
    return { items: this.items, counts: this.counts, keys: this.keys }
  }

  /** The report for people. */
  markdown(title: string): string {
    const told = this.items.filter(({ status }) => status === 'changed' || status === 'lost')
    const weighing = (weight: Weight) =>
      told.filter(({ file, path }) => this.#weights.get(keyOf(file, path)) === weight)
    const [clients, limits] = [weighing('client'), weighing('limit')]
    const others = told.filter((item) => !clients.includes(item) && !limits.includes(item))
    const { mapped, default: usual, changed, lost } = this.counts
    const block = (heading: string, lines: readonly string[]) => (lines.length === 0 ? [] : ['', heading, '', ...lines])
    return [
      `# ${title}`,
      '',
      `${count(mapped, 'value')} mapped, ${usual} the default, ${changed} changed, ${lost} lost.`,
      ...block('## What clients will notice', [...this.#notes.map((note) => `- ${note}`), ...clients.map(lineOf)]),
      ...block('## Less strict than before', limits.map(lineOf)),
      ...block('## Keys', keyLines(this.keys)),
      ...block('## Changed', others.filter(({ status }) => status === 'changed').map(lineOf)),
      ...block('## Lost', others.filter(({ status }) => status === 'lost').map(lineOf)),
      '',
    ].join('\n')
  }

  #add({ file, line, path }: Place, what: Pick<Item, 'status' | 'to' | 'advice'>, weight?: Weight): void {
    const key = keyOf(file, path)
    // Of two things that are said of a value, the worse one stands, with the place that the other has.
    const before = this.#items.get(key)
    if (before && statuses.indexOf(before.status) > statuses.indexOf(what.status)) {
      if (before.status === 'changed' && what.to !== undefined) this.#items.set(key, { to: what.to, ...before })
      return
    }
    this.#items.set(key, { file, line, path, ...what })
    if (weight) this.#weights.set(key, weight)
  }
}

/** The values that do not count because their keys stand again further down. */
function replacedIn({ replaced = [] }: Node): readonly Node[] {
  return replaced.flatMap((node) => [...leavesOf(node), ...replacedIn(node)])
}

function keyOf(file: string, path: string): string {
  return `${file}\n${path}`
}

function lineOf({ file, line, path, advice = '' }: Item): string {
  const where = line > 0 ? `${file}:${line}` : file
  return `- ${where} ${path}: ${advice}`
}

function keyLines({ imported, skipped, disabled, lost }: KeyCounts): readonly string[] {
  if (imported + skipped + lost.length === 0) return []
  return [
    `- ${count(imported, 'key')} imported, ${skipped} known already, ${lost.length} not imported.`,
    ...disabled.map((name) => `- ${name} is disabled, because it would otherwise allow more than before.`),
    ...lost.map((name) => `- ${name} was not imported.`),
  ]
}
