import { count, shortId } from '../../format.ts'
import { asked } from '../../parts/CellMenu.tsx'
import { Moment } from '../../parts/Moment.tsx'
import { Status } from '../../parts/Status.tsx'
import type { Column } from '../../parts/Table.tsx'
import type { AuditRow } from './api.ts'
import { words } from './words.ts'

export const actorOf = ({ actor }: AuditRow): string => {
  if (!actor) return words.unknown
  return actor.name ?? words.actors[actor.type] ?? actor.type
}

/** What was changed, by its name: "provider reed". */
export const targetOf = ({ target }: AuditRow): string =>
  target ? [target.type, target.name ?? target.id].filter((word) => word !== null).join(' ') : ''

function changedFields({ changes = {} }: AuditRow): string {
  const [first, ...others] = Object.keys(changes)
  if (first === undefined) return ''
  return others.length === 0 ? first : words.changesMore(first, others.length)
}

function of(column: Omit<Column<AuditRow>, 'label'> & { readonly name: keyof typeof words.columns }): Column<AuditRow> {
  return { ...column, label: words.columns[column.name] }
}

export const columns: readonly Column<AuditRow>[] = [
  of({ name: 'at', cell: ({ at }) => (at ? <Moment at={at} exact /> : words.unknown), text: ({ at }) => at ?? null }),
  of({ name: 'sequence', cell: ({ sequence }) => count(sequence), text: ({ sequence }) => sequence, number: true }),
  of({
    name: 'actor',
    cell: actorOf,
    text: actorOf,
    filter: ({ actor }) => asked('actor', actor?.id, actor?.name),
  }),
  of({
    name: 'action',
    cell: ({ action }) => <code>{action}</code>,
    text: ({ action }) => action,
    filter: ({ action }) => asked('action', action),
  }),
  of({
    name: 'target',
    cell: targetOf,
    text: targetOf,
    filter: ({ target }) => asked('target', target?.id ?? target?.name, target?.name),
  }),
  of({
    name: 'outcome',
    cell: ({ outcome }) => (
      <Status state={outcome === 'refused' ? 'warning' : 'good'}>{words.outcomes[outcome] ?? outcome}</Status>
    ),
    text: ({ outcome }) => outcome,
    filter: ({ outcome }) => asked('outcome', outcome, words.outcomes[outcome]),
  }),
  of({ name: 'changes', cell: changedFields, text: ({ changes = {} }) => Object.keys(changes).join(' ') }),
  of({ name: 'address', cell: ({ address }) => address, text: ({ address }) => address ?? null, spare: true }),
  of({
    name: 'request',
    cell: ({ request_id: id }) => id && <code>{shortId(id)}</code>,
    text: ({ request_id: id }) => id ?? null,
    spare: true,
  }),
  of({ name: 'hash', cell: ({ hash }) => <code>{shortId(hash)}</code>, text: ({ hash }) => hash, spare: true }),
]
