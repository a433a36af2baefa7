import '@mantine/core/styles/Input.layer.css'
import { TextInput } from '@mantine/core'
import { useState } from 'react'
import { Button } from '../parts/Button.tsx'
import { withoutBlanks } from './control.ts'
import type { ControlProps } from './control.ts'
import { words } from './words.ts'
import classes from './form.module.css'

/** A secret, which is never filled in. One that is set can be replaced or removed. */
export function SecretControl({ field, value, error, secret, onChange, onKeep }: ControlProps) {
  const [replaces, setReplaces] = useState(false)
  const isKept = secret?.set === true
  const goes = value === null
  const keep = (
    <Button
      small
      aria-label={words.keepNamed(field.label)}
      onClick={() => {
        setReplaces(false)
        onKeep()
      }}
    >
      {words.keep}
    </Button>
  )
  if (isKept && !replaces && error === undefined)
    return (
      <div className={classes.kept}>
        <span className={classes.label}>{field.label}</span>
        <span>{goes ? words.secretGoes : secret.hint ? words.secretEnds(secret.hint) : words.secretKept}</span>
        <Button small onClick={() => setReplaces(true)}>
          {words.replace}
        </Button>
        {goes
          ? keep
          : !field.required && (
              <Button small onClick={() => onChange(null)} aria-label={words.removeNamed(field.label)}>
                {words.remove}
              </Button>
            )}
      </div>
    )
  return (
    <div className={classes.entry}>
      {/* No field for passwords: browsers fill those in, and ask whether to keep what was typed. */}
      <TextInput
        label={field.label}
        description={field.hint || undefined}
        error={error}
        withAsterisk={field.required}
        value={typeof value === 'string' ? value : ''}
        classNames={{ input: classes.secret ?? '' }}
        autoComplete="off"
        spellCheck={false}
        autoFocus={replaces}
        onChange={(event) => onChange(withoutBlanks(field, event.currentTarget.value))}
      />
      {isKept && keep}
    </div>
  )
}
