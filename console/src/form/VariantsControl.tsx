import '@mantine/core/styles/Combobox.layer.css'
import '@mantine/core/styles/Input.layer.css'
import '@mantine/core/styles/Popover.layer.css'
import { Select } from '@mantine/core'
import { printed } from './control.ts'
import type { ControlProps } from './control.ts'
import { valueAt } from './draft.ts'
import { Fields } from './Fields.tsx'
import type { Bindings } from './Fields.tsx'
import { discriminatorOf } from './schema.ts'
import { words } from './words.ts'
import classes from './form.module.css'

/** One of several forms of a value: first which, then its fields. */
export function VariantsControl({
  field,
  value,
  error,
  onChange,
  bindings,
}: ControlProps & { readonly bindings: Bindings }) {
  const name = discriminatorOf(field.schema) ?? ''
  const chosen = valueAt(value, name)
  const variant = field.variants.find((one) => one.value === chosen)
  return (
    <div className={classes.fields}>
      <Select
        label={field.label}
        description={field.hint || undefined}
        error={error}
        withAsterisk={field.required}
        data={field.variants.map((one) => printed(one.value))}
        value={chosen === undefined ? null : printed(chosen)}
        placeholder={words.notSet}
        clearable={!field.required}
        onChange={(text) => onChange(text === null ? null : { [name]: text })}
      />
      {variant && <Fields fields={variant.fields} bindings={bindings} />}
    </div>
  )
}
