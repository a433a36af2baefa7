import { openAudit } from '../../support/audit.ts'

// A process of its own that appends rows to an audit trail: `<url> <folder> <name> <rows>`.
const [url = '', folder = '', name = '', rows = '0'] = process.argv.slice(2)
const trail = await openAudit(url, folder)
const actor = { type: 'member', id: name, name } as const
await Promise.all(
  Array.from({ length: Number(rows) }, (_, number) =>
    trail.view.record({ action: 'thing.update', actor, details: { number } }),
  ),
)
await trail.close()
