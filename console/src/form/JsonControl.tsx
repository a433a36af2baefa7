import '@mantine/core/styles/Input.layer.css'
import { Textarea } from '@mantine/core'
import { useState } from 'react'
import type { ControlProps } from './control.ts'
import type { Json } from './schema.ts'
import { words } from './words.ts'
import classes from './form.module.css'

/** A value that has no better form: its JSON. */
export function JsonControl({ field, value, usual, error, onChange, onFlaw }: ControlProps) {
  const [typed, setTyped] = useState<string>()
  const text = (one: Json | undefined) => (one === undefined || one === null ? '' : JSON.stringify(one, null, 2))
  const take = (given: string) => {
    setTyped(given)
    try {
      onChange(given.trim() === '' ? null : (JSON.parse(given) as Json))
      onFlaw(undefined)
    } catch {
      onFlaw(words.notJson)
    }
  }
  return (
    <Textarea
      label={field.label}
      description={field.hint || undefined}
      error={error}
      withAsterisk={field.required}
      value={typed ?? text(value)}
      placeholder={text(usual) || words.notSet}
      classNames={{ input: classes.code ?? '' }}
      autosize
      minRows={2}
      maxRows={16}
      spellCheck={false}
      onChange={(event) => take(event.currentTarget.value)}
    />
  )
}
