import { defineService } from '../../engine/index.ts'
import type {
  Json,
  RecordChanged,
  RecordView,
  RefusedAction,
  Requester,
  ServiceHost,
  TableQueries,
} from '../../engine/index.ts'
import { asText } from '../../engine/kit.ts'
import { Chain } from './chain.ts'
import { changesBetween, fieldsOf } from './changes.ts'
import { Checkpoints } from './checkpoints.ts'
import { findRows, latestDetails } from './find-rows.ts'
import type { AuditFilter, AuditPage } from './find-rows.ts'
import { Refusals } from './refusals.ts'
import type { AuditEntry } from './row.ts'
import { AuditKeys, contextOf } from './keys.ts'
import { migrations } from './table.ts'
import type { AuditTable } from './table.ts'
import { verify } from './verify.ts'
import type { Verdict } from './verify.ts'
import { Verdicts } from './verdicts.ts'

/** The audit trail: who changed what. */
export interface Audit {
  /**
   * Appends a row in the transaction of what it tells, as its last write. Rejects with `store_unavailable`; the
   * transaction must then fail. The service itself appends changes of records and sections that it witnesses.
   */
  append(transaction: TableQueries, entry: AuditEntry): Promise<void>
  /** Appends a row in a transaction of its own. Rejects with `store_unavailable`. */
  record(entry: AuditEntry): Promise<void>
  /** Appends a row for a write that a member may not do: one per member, action and minute. Never rejects. */
  refused(refused: RefusedAction): Promise<void>
  /** Appends the row of a new master secret, in its transaction, and keeps the key of the earlier checkpoints. */
  rotate(transaction: TableQueries, earlier: Pick<ServiceHost, 'deriveKey'>): Promise<void>
  /** The rows that match a filter. */
  find(filter: AuditFilter, page: AuditPage): Promise<AuditTable[]>
  /** Verifies the whole trail, also against checkpoints that were kept elsewhere; `rows`: as a transaction sees it. */
  verify(checkpoints?: readonly Json[], rows?: TableQueries): Promise<Verdict>
}

declare module '../../engine/index.ts' {
  interface Services {
    audit: Audit
  }
}

export default defineService({
  name: 'audit',
  summary: 'The audit trail: who changed what, in rows that cannot be changed unnoticed.',
  migrations,
  uses: ['notifications'],
  seals: [{ table: 'audit_keys', key: 'sequence', column: 'key', context: contextOf }],
  open(host) {
    const checkpoints = new Checkpoints(host)
    const keys = new AuditKeys(host)
    const chain = new Chain(host, checkpoints, keys)
    const refusals = new Refusals(chain, host.log)
    /** The running configuration, and the files it was made of. */
    let running: { readonly version: string; readonly fileVersion: string } | undefined
    const reloaded = async (from: string, to: string, files: string) => {
      const entry = { action: 'config.reload', details: { from, to } }
      try {
        // Every process of the gateway reads the same files.
        await chain.record(entry, async (transaction) => {
          const last = await latestDetails(transaction, entry.action)
          return asText(last?.['to']).split('-', 1)[0] === files
        })
      } catch (error) {
        host.log.error({ err: error }, 'a reload of the configuration is missing in the audit trail')
      }
    }
    const trail = { checkpoints, keys, dialect: host.dialect }
    const verdicts = new Verdicts(host, () => verify(host.database, trail))
    const view: Audit = {
      append: (transaction, entry) => chain.append(transaction, entry),
      record: (entry) => chain.record(entry),
      refused: (refused) => refusals.note(refused),
      rotate: (transaction, earlier) => chain.rotate(transaction, earlier),
      find: (filter, page) => findRows(host.database, filter, page),
      verify: (given, rows = host.database) => verdicts.of(() => verify(rows, trail, given), given),
    }
    return {
      configure(_settings, { notifications }, { version, fileVersion }) {
        const live = () => {
          if (running && running.fileVersion !== fileVersion) void reloaded(running.version, version, fileVersion)
          running = { version, fileVersion }
          notifications.watch('audit', { read: () => verdicts.read() })
        }
        return { view, live }
      },
      async witness(transaction, change, by) {
        const entry = entryOf(change, by)
        if (entry) await chain.append(transaction, entry)
      },
      refused: (refused) => refusals.note(refused),
      status: () => checkpoints.problem,
      close: () => checkpoints.tell(),
    }
  },
  rotate: (view, transaction, earlier) => view.rotate(transaction, earlier),
})

const verbs = { create: 'create', change: 'update', delete: 'delete' } as const

/** The entry for the change of a record or section; undefined where its service appends an entry of its own. */
function entryOf(change: RecordChanged, by: Requester | undefined): AuditEntry | undefined {
  const { kind, type, name, before, after, audited } = change
  if (audited) return undefined
  const isSection = type === 'section'
  const action = isSection ? `settings.${kind === 'delete' ? 'reset' : 'update'}` : `${type}.${verbs[kind]}`
  const target = { type: isSection ? 'settings' : type, id: name, name }
  return { action, ...(by && { by }), target, changes: changesBetween(fieldsIn(before), fieldsIn(after)) }
}

function fieldsIn(view: RecordView | undefined) {
  return fieldsOf(view?.value, view?.secrets)
}
