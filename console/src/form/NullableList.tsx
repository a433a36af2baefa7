import { Input } from '@mantine/core'
import { useId } from 'react'
import type { ReactNode } from 'react'
import { Segments } from '../parts/Segments.tsx'
import type { ControlProps } from './control.ts'
import { words } from './words.ts'
import classes from './form.module.css'

/** A list that may be not set, which is not the same as empty: a choice of the two, and then the list. */
export function NullableList({
  field,
  value,
  error,
  onChange,
  children,
}: Pick<ControlProps, 'field' | 'value' | 'error' | 'onChange'> & { readonly children: ReactNode }) {
  const id = useId()
  const isUnset = value === undefined || value === null
  const unset = field.schema['x-null'] ?? words.notSet
  return (
    <Input.Wrapper
      id={id}
      labelElement="div"
      label={field.label}
      description={field.hint || undefined}
      error={isUnset ? error : undefined}
    >
      <div className={classes.nullable}>
        <Segments
          label={field.label}
          options={[
            { value: 'unset', label: unset },
            { value: 'set', label: words.onlyThese },
          ]}
          value={isUnset ? 'unset' : 'set'}
          onChange={(choice) => onChange(choice === 'unset' ? null : [])}
        />
        {!isUnset && children}
      </div>
    </Input.Wrapper>
  )
}
