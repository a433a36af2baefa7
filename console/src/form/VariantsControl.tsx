import '@mantine/core/styles/Combobox.layer.css'
import '@mantine/core/styles/Input.layer.css'
import '@mantine/core/styles/Popover.layer.css'
import { Select } from '@mantine/core'
import type { ReactNode } from 'react'
import { printed } from './control.ts'
import type { Bindings, ControlProps } from './control.ts'
import { valueAt } from './draft.ts'
import { discriminatorOf } from './schema.ts'
import type { Field } from './schema.ts'
import { words } from './words.ts'
import classes from './form.module.css'

interface VariantsControlProps extends ControlProps {
  readonly bindings: Bindings
  readonly draw: (fields: readonly Field[], bindings: Bindings) => ReactNode
}

/** One of several forms of a value: first which, then its fields. */
export function VariantsControl({ field, value, error, onChange, bindings, draw }: VariantsControlProps) {
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
      {variant && draw(variant.fields, bindings)}
    </div>
  )
}
