import '@mantine/core/styles/Input.layer.css'
import { TextInput } from '@mantine/core'
import { useState } from 'react'
import type { ReactNode } from 'react'
import { shared } from '../words.ts'
import { Confirm } from './Confirm.tsx'

interface ConfirmNameProps {
  readonly title: string
  /** What has to be typed. */
  readonly name: string
  /** The destructive button: "Delete reed". */
  readonly action: string
  /** Does it, and closes the dialog; a refusal is shown inside. */
  readonly onConfirm: () => Promise<void>
  readonly onClose: () => void
  /** What will happen, in numbers. */
  readonly children: ReactNode
}

/** Asks for a name to be typed before something that cannot be undone. */
export function ConfirmName({ name, children, ...rest }: ConfirmNameProps) {
  const [typed, setTyped] = useState('')
  return (
    <Confirm look="danger" ready={typed === name} {...rest}>
      {children}
      <TypedName name={name} typed={typed} onChange={setTyped} />
    </Confirm>
  )
}

interface TypedNameProps {
  readonly name: string
  readonly typed: string
  readonly onChange: (text: string) => void
}

/** The field that a name is typed into. */
export function TypedName({ name, typed, onChange }: TypedNameProps) {
  return (
    <TextInput
      mt="md"
      label={shared.typeToConfirm(name)}
      value={typed}
      autoComplete="off"
      spellCheck={false}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  )
}
