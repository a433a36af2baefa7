import { printed } from './control.ts'
import type { Change } from './draft.ts'
import { withInner } from './schema.ts'
import type { Field } from './schema.ts'
import { words } from './words.ts'
import classes from './form.module.css'

/** What saving would change: the old value and the new one of each field. A secret is only named. */
export function Changes({
  changes,
  fields,
}: {
  readonly changes: readonly Change[]
  readonly fields: readonly Field[]
}) {
  const known = new Map(withInner(fields).map((field) => [field.path, field]))
  return (
    <dl className={classes.changes}>
      {changes.map(({ path, from, to }) => {
        const field = known.get(path)
        const isSecret = field?.kind === 'secret' || field?.kind === 'secrets'
        return (
          <div key={path}>
            <dt>{field?.label ?? path}</dt>
            <dd>
              {!isSecret && <del>{printed(from) || words.notSet}</del>}
              <ins>{isSecret ? words.replace : printed(to) || words.notSet}</ins>
            </dd>
          </div>
        )
      })}
    </dl>
  )
}
