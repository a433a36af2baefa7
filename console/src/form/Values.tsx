import { textOf } from './control.ts'
import type { SecretState } from './control.ts'
import { valueAt } from './draft.ts'
import type { Field, Json } from './schema.ts'
import classes from './form.module.css'

interface ValuesProps {
  readonly fields: readonly Field[]
  readonly values: Json
  readonly usual?: Json
  readonly secrets?: Readonly<Record<string, SecretState>>
}

/** The values of a record that is changed elsewhere, as text that can be read and copied. */
export function Values({ fields, values, usual = {}, secrets = {} }: ValuesProps) {
  return (
    <dl className={classes.values}>
      {flat(fields).map(({ field, label, isWithin }) => {
        const own = valueAt(values, field.path)
        const shown = own ?? valueAt(usual, field.path) ?? field.schema.default
        // Of a group, such as prices, only what is set says something.
        if (isWithin && (shown === undefined || shown === null)) return null
        return (
          <div key={field.path}>
            <dt>{label}</dt>
            <dd>{textOf(field, shown, secrets)}</dd>
          </div>
        )
      })}
    </dl>
  )
}

/** All fields, those of groups with the names of the groups before their own. */
const flat = (fields: readonly Field[], within = ''): readonly Shown[] =>
  fields.flatMap((field) => {
    const label = `${within}${field.label}`
    return field.kind === 'group' ? flat(field.fields, `${label} › `) : [{ field, label, isWithin: within !== '' }]
  })

interface Shown {
  readonly field: Field
  readonly label: string
  readonly isWithin: boolean
}
