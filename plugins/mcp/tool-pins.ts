import { hash } from 'node:crypto'
import { canonical, whenFree } from '../../engine/kit.ts'
import type { JsonObject, Requester, ServiceHost, Services, TableQueries } from '../../engine/index.ts'

/** A tool of a server as it is, and as it was approved: hashes in hex. */
export interface Pin {
  readonly hash: string
  readonly approved: string
}

/** Most tools that are remembered of a server. */
const mostTools = 5_000

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
  #writing: Promise<void> = Promise.resolve()

  constructor(host: Pick<ServiceHost, 'database' | 'rows' | 'log'>, audit: () => Services['audit'] | undefined) {
    this.#host = host
    this.#audit = audit
  }

  /** Reads what other processes have changed. Resolves to whether anything has. */
  async read(): Promise<boolean> {
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

  hasChanged(server: string, tool: string): boolean {
    const pin = this.of(server).get(tool)
    return pin !== undefined && isChanged(pin)
  }

  /** Compares the tools that a server offers with those it has offered before. What is new is written meanwhile. */
  see(server: string, tools: readonly JsonObject[]): void {
    const pins = this.#servers.get(server) ?? new Map<string, Pin>()
    this.#servers.set(server, pins)
    const seen = new Map<string, string>()
    for (const tool of tools) {
      const name = tool['name'] as string
      const now = hashOf(tool)
      const known = pins.get(name)
      if (known?.hash === now || (known === undefined && pins.size >= mostTools)) continue
      pins.set(name, { hash: now, approved: known?.approved ?? now })
      seen.set(name, now)
    }
    if (seen.size > 0) void this.#later(() => this.#write(server, seen))
  }

  /**
   * Approves tools of a server as they are. Rejects with `store_unavailable`.
   * @returns the names of those that had changed
   */
  approve(server: string, tools: readonly string[], by: Requester): Promise<readonly string[]> {
    return this.#changing(async (transaction) => {
      const rows = await transaction
        .selectFrom('mcp_tools')
        .selectAll()
        .where('server', '=', server)
        .where('tool', 'in', [...tools, ''])
        .execute()
      const changed = rows.filter(isChanged)
      for (const { tool, hash: approved } of changed)
        await this.#update(transaction, server, tool).set({ approved }).execute()
      if (changed.length > 0)
        await this.#audit()?.append(transaction, {
          action: 'mcp_server.approve',
          by,
          target: { type: 'mcp_server', id: server, name: server },
          details: { tools: changed.map(({ tool }) => tool) },
        })
      return changed.map(({ tool }) => tool)
    })
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

  async #write(server: string, seen: ReadonlyMap<string, string>): Promise<void> {
    const changed = await this.#changing(async (transaction) => {
      const changes: Record<string, { from: string; to: string }> = {}
      for (const [tool, now] of seen) {
        const row = { server, tool, hash: now, approved: now }
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
        await this.#update(transaction, server, tool).set({ hash: now }).execute()
        changes[tool] = { from: before.hash, to: now }
      }
      if (Object.keys(changes).length > 0)
        await this.#audit()?.append(transaction, {
          action: 'mcp_server.tools_changed',
          target: { type: 'mcp_server', id: server, name: server },
          changes,
        })
      return Object.keys(changes)
    })
    if (changed.length > 0)
      this.#host.log.warn({ mcp_server: server, tools: changed }, 'tools of an MCP server have changed')
  }

  #update(transaction: TableQueries, server: string, tool: string) {
    return transaction.updateTable('mcp_tools').where('server', '=', server).where('tool', '=', tool)
  }

  /** Changes the table, one process at a time, and reads it again. */
  async #changing<T>(work: (transaction: TableQueries) => Promise<T>): Promise<T> {
    const done = await whenFree(() =>
      this.#host.database.transaction().execute(async (transaction) => {
        await this.#count(transaction)
        return work(transaction)
      }),
    )
    await this.read()
    return done
  }

  async #count(transaction: TableQueries): Promise<void> {
    await transaction
      .updateTable('mcp_tools_changes')
      .set(({ eb }) => ({ changes: eb('changes', '+', 1) }))
      .execute()
  }

  #later(work: () => Promise<void>): Promise<void> {
    this.#writing = this.#writing.then(work).catch((error: unknown) => {
      this.#host.log.warn({ err: error }, 'tools of an MCP server could not be remembered')
      // What is in memory alone is seen, and written, anew.
      this.#changes = -1
    })
    return this.#writing
  }
}

const none: Pins = new Map()

function isChanged({ hash: now, approved }: Pin): boolean {
  return now !== approved
}

/** The hash of what clients, and their models, read of a tool: its name, description and schema. */
export function hashOf({ name, description, inputSchema }: JsonObject): string {
  const read = { name, ...(description === undefined ? {} : { description }), inputSchema: inputSchema ?? null }
  return hash('sha256', canonical(read))
}
