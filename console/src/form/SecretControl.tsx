import '@mantine/core/styles/Input.layer.css'
import { TextInput } from '@mantine/core'
import { useRef, useState } from 'react'
import { flushSync } from 'react-dom'
import { Button } from '../parts/Button.tsx'
import { withoutBlanks } from './control.ts'
import type { ControlProps } from './control.ts'
import { words } from './words.ts'
import classes from './form.module.css'

/** A secret, which is never filled in. One that is set can be replaced or removed. */
export function SecretControl({ field, value, error, secret, onChange, onKeep }: ControlProps) {
  const [replaces, setReplaces] = useState(false)
  const replace = useRef<HTMLButtonElement>(null)
  const isKept = secret?.set === true
  const goes = value === null
  const keep = (
    <Button
      small
      aria-label={words.keepNamed(field.label)}
      onClick={() => {
        flushSync(() => {
          setReplaces(false)
          onKeep()
        })
        replace.current?.focus()
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
        <Button ref={replace} small onClick={() => setReplaces(true)}>
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
        onChange={(event) => {
          // An error may be what shows the field, and goes now.
          setReplaces(true)
          onChange(withoutBlanks(field, event.currentTarget.value))
        }}
      />
      {isKept && keep}
    </div>
  )
}
