import type { ReactNode } from 'react'
import { Button } from '../parts/Button.tsx'
import { printed } from './control.ts'
import type { ControlProps } from './control.ts'
import { words } from './words.ts'
import classes from './form.module.css'

/** Fields that belong together, its children. Where they may be not set at all, they are set and removed as one. */
export function GroupControl({
  field,
  value,
  usual,
  error,
  onChange,
  children,
}: ControlProps & { readonly children: ReactNode }) {
  const isUnset = field.nullable && (value === undefined || value === null)
  return (
    <fieldset className={classes.group}>
      <legend>{field.label}</legend>
      {field.hint !== '' && <p className={classes.hint}>{field.hint}</p>}
      {error !== undefined && <p className={classes.error}>{error}</p>}
      {!isUnset && children}
      {field.nullable && (
        <div className={classes.kept}>
          {isUnset && (
            <span>{usual === undefined || usual === null ? words.notSet : words.notSetBut(printed(usual))}</span>
          )}
          <Button
            small
            icon={isUnset ? 'plus' : 'close'}
            aria-label={isUnset ? words.setNamed(field.label) : words.removeNamed(field.label)}
            onClick={() => onChange(isUnset ? {} : null)}
          >
            {isUnset ? words.set : words.remove}
          </Button>
        </div>
      )}
    </fieldset>
  )
}
