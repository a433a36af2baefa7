import { relative } from '../format.ts'
import { Button } from '../parts/Button.tsx'
import { Dialog, DialogActions } from '../parts/Dialog.tsx'
import { printed } from './control.ts'
import { isSame, valueAt } from './draft.ts'
import type { Change } from './draft.ts'
import type { LastChange } from '../api/lastChange.ts'
import { withInner } from './schema.ts'
import type { Field, Json } from './schema.ts'
import { words } from './words.ts'
import classes from './form.module.css'

interface ConflictProps {
  readonly fields: readonly Field[]
  /** As they were when the form was filled in. */
  readonly before: Json
  /** As somebody else left them. */
  readonly theirs: Json
  /** What this form would change of theirs. */
  readonly mine: readonly Change[]
  /** Who that was, if it is known. */
  readonly by: LastChange | undefined
  readonly onTheirs: () => void
  readonly onMine: () => void
  readonly onClose: () => void
}

/** What somebody else changed meanwhile (412), beside what this form would change. */
export function Conflict({ fields, before, theirs, mine, by, onTheirs, onMine, onClose }: ConflictProps) {
  const all = withInner(fields)
  const labelOf = (path: string) => all.find((field) => field.path === path)?.label ?? path
  const isSecret = (path: string) => all.some(({ path: own, kind }) => own === path && kind.startsWith('secret'))
  const others = all
    .filter(({ path, fields: inner }) => inner.length === 0 && !isSame(valueAt(before, path), valueAt(theirs, path)))
    .map(({ path }) => path)
  const paths = new Set([...mine.map(({ path }) => path), ...others])
  const ownOf = (path: string) => mine.find((change) => change.path === path)
  const title = by ? words.changedBy(by.name, relative(by.at)) : words.conflictTitle
  return (
    <Dialog title={title} wide onClose={onClose}>
      <p className={classes.hint}>{words.conflict}</p>
      <table className={classes.sides}>
        <thead>
          <tr>
            <th scope="col">{words.field}</th>
            <th scope="col">{words.theirs}</th>
            <th scope="col">{words.mine}</th>
          </tr>
        </thead>
        <tbody>
          {[...paths].map((path) => (
            <tr key={path}>
              <th scope="row">{labelOf(path)}</th>
              <td>{isSecret(path) ? words.secretHidden : printed(valueAt(theirs, path)) || words.notSet}</td>
              <td>{isSecret(path) ? words.replace : textOf(ownOf(path))}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <DialogActions>
        <Button onClick={onTheirs}>{words.takeTheirs}</Button>
        <Button look="primary" onClick={onMine}>
          {words.keepMine}
        </Button>
      </DialogActions>
    </Dialog>
  )
}

const textOf = (change: Change | undefined) => (change ? printed(change.to) || words.notSet : words.untouched)
