import { parsedObject, whenFree } from '../../engine/kit.ts'
import type { JsonObject, Requester, ServiceHost, Services, TableQueries } from '../../engine/index.ts'
import { definitionOf, hashOf } from './tool-definition.ts'
import type { Definition } from './tool-definition.ts'

/** A tool of a server as it is, and as it was approved: hashes in hex. */
export interface Pin {
  readonly hash: string
  readonly approved: string
}

/** A tool as it is written: its hash, and its definition in JSON. */
interface Seen {
  readonly hash: string
  readonly definition: string | null
}

/** Tools that differ from what a server has offered before. */
interface Sighting {
  readonly server: string
  readonly tools: ReadonlyMap<string, Seen>
}

/** Most tools that are remembered of a server. */
const mostTools = 5_000

/** The longest definition that is kept, in characters. Of a longer one there is only the hash. */
const longest = 65_536

type Pins = ReadonlyMap<string, Pin>

/**
 * The hashes of the tools that servers have offered. A tool is approved as it was seen first; a tool that differs from
 * what was approved has changed. All processes share a table, and each has it in memory.
 */
export class ToolPins {
  readonly #host: Pick<ServiceHost, 'database' | 'rows' | 'log'>
  readonly #audit: () => Services['audit'] | undefined
  #servers = new Map<string, Map<string, Pin>>()
  #changes = -1
  /** What was seen and is not written yet, oldest first. */
  readonly #unwritten = new Set<Sighting>()
  #reading: Promise<unknown> = Promise.resolve()
  #writing: Promise<void> = Promise.resolve()

  constructor(host: Pick<ServiceHost, 'database' | 'rows' | 'log'>, audit: () => Services['audit'] | undefined) {
    this.#host = host
    this.#audit = audit
  }

  /** Reads what other processes have changed. Resolves to whether anything has. */
  read(): Promise<boolean> {
    // One after the other: an older state must not replace a newer one.
    const read = this.#reading.then(() => this.#readNow())
    this.#reading = read.catch(() => undefined)
    return read
  }

  async #readNow(): Promise<boolean> {
    // What is written while the table is read may be missing in it.
    const unwritten = new Set(this.#unwritten)
    const [row] = await this.#host.rows<{ changes: number }>('select changes from mcp_tools_changes')
    const changes = row?.changes ?? 0
    if (changes === this.#changes) return false
    const rows = await this.#host.rows<{ server: string; tool: string; hash: string; approved: string }>(
      'select server, tool, hash, approved from mcp_tools',
    )
    const servers = new Map<string, Map<string, Pin>>()
    for (const { server, tool, ...pin } of rows) {
      const pins = servers.get(server) ?? new Map<string, Pin>()
      servers.set(server, pins.set(tool, pin))
    }
    for (const { server, tools } of unwritten.union(this.#unwritten)) {
      const pins = servers.get(server) ?? new Map<string, Pin>()
      servers.set(server, pins)
      for (const [tool, seen] of tools) note(pins, tool, seen)
    }
    this.#servers = servers
    this.#changes = changes
    return true
  }

  /** The pins of a server, by the name of the tool. */
  of(server: string): Pins {
    return this.#servers.get(server) ?? none
  }

  /** Names of the tools of a server that differ from what was approved. */
  changed(server: string): readonly string[] {
    return [...this.of(server)].flatMap(([tool, pin]) => (isChanged(pin) ? [tool] : [])).sort()
  }

  /** What was approved of the tools of a server that have changed, by name; null: it is not kept. */
  async approvedOf(server: string): Promise<ReadonlyMap<string, Definition | null>> {
    await this.written()
    const rows = await this.#host.database
      .selectFrom('mcp_tools')
      .select(['tool', 'approved_definition as text'])
      .where('server', '=', server)
      .whereRef('hash', '!=', 'approved')
      .execute()
    return new Map(
      rows.map(({ tool, text }) => [tool, text === null ? null : ((parsedObject(text) ?? null) as Definition | null)]),
    )
  }

  hasChanged(server: string, tool: string): boolean {
    const pin = this.of(server).get(tool)
    return pin !== undefined && isChanged(pin)
  }

  /** Compares the tools that a server offers with those it has offered before. What is new is written meanwhile. */
  see(server: string, tools: readonly JsonObject[]): void {
    const pins = this.#servers.get(server) ?? new Map<string, Pin>()
    this.#servers.set(server, pins)
    const seen = new Map<string, Seen>()
    for (const tool of tools) {
      const name = tool['name'] as string
      const now = hashOf(tool)
      const known = pins.get(name)
      if (known?.hash === now || (known === undefined && pins.size >= mostTools)) continue
      const definition = JSON.stringify(definitionOf(tool))
      const as = { hash: now, definition: definition.length > longest ? null : definition }
      note(pins, name, as)
      seen.set(name, as)
    }
    if (seen.size > 0) this.#later({ server, tools: seen })
  }

  /**
   * Approves tools of a server as they are. Rejects with `store_unavailable`.
   * @returns the names of those that had changed
   */
  async approve(server: string, tools: readonly string[], by: Requester): Promise<readonly string[]> {
    const approved = await this.#transact(async (transaction) => {
      const rows = await transaction
        .selectFrom('mcp_tools')
        .selectAll()
        .where('server', '=', server)
        .where('tool', 'in', [...tools, ''])
        .execute()
      const changed = rows.filter(isChanged)
      for (const { tool, hash: approved, definition } of changed)
        await this.#update(transaction, server, tool).set({ approved, approved_definition: definition }).execute()
      if (changed.length > 0)
        await this.#audit()?.append(transaction, {
          action: 'mcp_server.approve',
          by,
          target: { type: 'mcp_server', id: server, name: server },
          details: { tools: changed.map(({ tool }) => tool) },
        })
      return changed.map(({ tool }) => tool)
    })
    await this.read()
    return approved
  }

  /** Forgets the tools of a server, in a transaction that deletes it. */
  async forget(transaction: TableQueries, server: string): Promise<void> {
    await this.#count(transaction)
    await transaction.deleteFrom('mcp_tools').where('server', '=', server).execute()
  }

  /** Resolves once everything that was seen is written. */
  async written(): Promise<void> {
    await this.#writing
  }

  async #write(sighting: Sighting): Promise<void> {
    const { server, tools } = sighting
    const changed = await this.#transact(async (transaction) => {
      const changes: Record<string, { from: string; to: string }> = {}
      for (const [tool, { hash: now, definition }] of tools) {
        const row = { server, tool, hash: now, approved: now, definition, approved_definition: definition }
        await transaction
          .insertInto('mcp_tools')
          .values(row)
          .onConflict((on) => on.columns(['server', 'tool']).doNothing())
          .execute()
        const [before] = await transaction
          .selectFrom('mcp_tools')
          .selectAll()
          .where('server', '=', server)
          .where('tool', '=', tool)
          .execute()
        // Another process may have seen it first.
        if (before === undefined || before.hash === now) continue
        await this.#update(transaction, server, tool).set({ hash: now, definition }).execute()
        changes[tool] = { from: before.hash, to: now }
      }
      if (Object.keys(changes).length > 0)
        await this.#audit()?.append(transaction, {
          action: 'mcp_server.tools_changed',
          target: { type: 'mcp_server', id: server, name: server },
          changes,
        })
      return Object.keys(changes)
    }).finally(async () => {
      this.#unwritten.delete(sighting)
      await this.#reading
      // What was not written is seen, and written, anew.
      this.#changes = -1
    })
    await this.read()
    if (changed.length > 0)
      this.#host.log.warn({ mcp_server: server, tools: changed }, 'tools of an MCP server have changed')
  }

  #update(transaction: TableQueries, server: string, tool: string) {
    return transaction.updateTable('mcp_tools').where('server', '=', server).where('tool', '=', tool)
  }

  /** Changes the table, one process at a time. */
  #transact<T>(work: (transaction: TableQueries) => Promise<T>): Promise<T> {
    return whenFree(() =>
      this.#host.database.transaction().execute(async (transaction) => {
        await this.#count(transaction)
        return work(transaction)
      }),
    )
  }

  async #count(transaction: TableQueries): Promise<void> {
    await transaction
      .updateTable('mcp_tools_changes')
      .set(({ eb }) => ({ changes: eb('changes', '+', 1) }))
      .execute()
  }

  #later(sighting: Sighting): void {
    this.#unwritten.add(sighting)
    this.#writing = this.#writing
      .then(() => this.#write(sighting))
      .catch((error: unknown) => this.#host.log.warn({ err: error }, 'tools of an MCP server could not be remembered'))
  }
}

const none: Pins = new Map()

/** A tool that was not known is approved as it is. */
function note(pins: Map<string, Pin>, tool: string, { hash: now }: Seen): void {
  pins.set(tool, { hash: now, approved: pins.get(tool)?.approved ?? now })
}

function isChanged({ hash: now, approved }: Pin): boolean {
  return now !== approved
}
