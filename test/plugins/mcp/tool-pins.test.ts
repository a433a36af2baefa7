import { expect } from 'chai'
import type { JsonObject, ServiceHost } from '../../../engine/index.ts'
import { ToolPins } from '../../../plugins/mcp/tool-pins.ts'

const tool = (name: string, description = name): JsonObject => ({ name, description, inputSchema: {} })

describe('plugins/mcp/tool-pins', () => {
  /** Pins over a table that answers with `rows`, and that is written when `write` is called. */
  function pinsOver(rows: readonly object[] = []) {
    const table = { rows, changes: 0, slow: undefined as Promise<void> | undefined }
    const writing = Promise.withResolvers<readonly string[]>()
    const host = {
      log: { warn: () => undefined },
      rows: async (query: string) => {
        const { rows, changes, slow } = table
        table.slow = undefined
        await slow
        return query.includes('changes') ? [{ changes }] : rows
      },
      database: { transaction: () => ({ execute: () => writing.promise }) },
    }
    const pins = new ToolPins(host as unknown as ServiceHost, () => undefined)
    return { pins, table, write: () => writing.resolve([]) }
  }

  it('remember what was seen and is not written yet, whatever others have written meanwhile', async () => {
    const { pins, table } = pinsOver()
    await pins.read()
    pins.see('docs', [tool('search')])
    pins.see('docs', [tool('read')])
    table.changes++
    expect(await pins.read()).to.equal(true)
    expect([...pins.of('docs').keys()]).to.deep.equal(['search', 'read'])
    pins.see('docs', [tool('read', 'Another one.')])
    expect(pins.changed('docs')).to.deep.equal(['read'])
    table.changes++
    await pins.read()
    expect(pins.changed('docs')).to.deep.equal(['read'])
  })

  it('believe the table once it is written', async () => {
    const { pins, table, write } = pinsOver()
    await pins.read()
    pins.see('docs', [tool('search')])
    table.rows = [{ server: 'docs', tool: 'search', hash: 'theirs', approved: 'ours' }]
    write()
    await pins.written()
    expect(pins.of('docs').get('search')).to.deep.equal({ hash: 'theirs', approved: 'ours' })
  })

  it('let no older state of the table replace a newer one', async () => {
    const { pins, table } = pinsOver()
    const { promise, resolve } = Promise.withResolvers<void>()
    table.slow = promise
    const first = pins.read()
    table.changes++
    table.rows = [{ server: 'docs', tool: 'search', hash: 'a', approved: 'a' }]
    const second = pins.read()
    await Promise.race([second, new Promise(setImmediate)])
    resolve()
    await Promise.all([first, second])
    expect(pins.of('docs').has('search')).to.equal(true)
    expect(await pins.read()).to.equal(false)
  })
})
