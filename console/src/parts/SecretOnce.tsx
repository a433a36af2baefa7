import '@mantine/core/styles/Input.layer.css'
import { TextInput } from '@mantine/core'
import { shared } from '../words.ts'
import { Button } from './Button.tsx'
import { CopyButton } from './CopyButton.tsx'
import { Dialog, DialogActions } from './Dialog.tsx'
import classes from './SecretOnce.module.css'

interface SecretOnceProps {
  /** "New key". */
  readonly title: string
  /** What it is: "Key"; the button that copies it is "Copy key". */
  readonly label: string
  readonly secret: string
  /** What it is for, and that it is never shown again. */
  readonly text: string
  readonly onKept: () => void
}

/** Shows a secret that nobody can read again, until somebody says that it was kept. */
export function SecretOnce({ title, label, secret, text, onKept }: SecretOnceProps) {
  return (
    <Dialog title={title}>
      <p className={classes.text}>{text}</p>
      <TextInput
        label={label}
        value={secret}
        readOnly
        autoComplete="off"
        spellCheck={false}
        classNames={{ input: classes.secret ?? '', label: classes.label ?? '' }}
        onFocus={(event) => event.currentTarget.select()}
      />
      <DialogActions>
        <CopyButton text={secret} what={label.toLowerCase()} named look="plain" />
        <Button look="primary" onClick={onKept}>
          {shared.kept}
        </Button>
      </DialogActions>
    </Dialog>
  )
}
