import '@mantine/core/styles/Input.layer.css'
import { TextInput } from '@mantine/core'
import { useState } from 'react'
import { revealSecrets } from '../../catalog/providers.ts'
import type { Provider } from '../../catalog/providers.ts'
import { Button } from '../../parts/Button.tsx'
import { Confirm } from '../../parts/Confirm.tsx'
import { CopyButton } from '../../parts/CopyButton.tsx'
import { Dialog, DialogActions } from '../../parts/Dialog.tsx'
import { PasswordField } from '../../parts/PasswordField.tsx'
import { shared } from '../../words.ts'
import { words } from './words.ts'
import classes from './providers.module.css'

interface RevealSecretsProps {
  readonly provider: Provider
  /** What a secret is called, by its path. */
  readonly labelOf: (path: string) => string
}

/** Shows the stored secrets of a provider to an admin who repeats the password. They are gone with the dialog. */
export function RevealSecrets({ provider: { name }, labelOf }: RevealSecretsProps) {
  const [asks, ask] = useState(false)
  const [secrets, show] = useState<Readonly<Record<string, string>>>()
  return (
    <>
      <Button small onClick={() => ask(true)}>
        {words.revealKeys}
      </Button>
      {asks && (
        <AskPassword
          name={name}
          onClose={() => ask(false)}
          onSecrets={(found) => {
            ask(false)
            show(found)
          }}
        />
      )}
      {secrets && (
        <Dialog title={words.secretsOf(name)} onClose={() => show(undefined)}>
          <div className={classes.secrets}>
            {Object.entries(secrets).map(([path, secret]) => (
              <Secret key={path} label={labelOf(path)} secret={secret} />
            ))}
          </div>
          <DialogActions>
            <Button look="primary" onClick={() => show(undefined)}>
              {shared.close}
            </Button>
          </DialogActions>
        </Dialog>
      )}
    </>
  )
}

interface AskPasswordProps {
  readonly name: string
  readonly onSecrets: (secrets: Readonly<Record<string, string>>) => void
  readonly onClose: () => void
}

function AskPassword({ name, onSecrets, onClose }: AskPasswordProps) {
  const [password, setPassword] = useState('')
  return (
    <Confirm
      title={words.revealKeys}
      action={words.reveal}
      ready={password !== ''}
      onConfirm={async () => onSecrets(await revealSecrets(name, password))}
      onClose={onClose}
    >
      <p className={classes.reason}>{words.revealText}</p>
      <PasswordField
        label={shared.password}
        value={password}
        autoComplete="current-password"
        autoFocus
        onChange={setPassword}
      />
    </Confirm>
  )
}

function Secret({ label, secret }: { readonly label: string; readonly secret: string }) {
  return (
    <div className={classes.secret}>
      <TextInput
        label={label}
        value={secret}
        readOnly
        autoComplete="off"
        spellCheck={false}
        onFocus={(event) => event.currentTarget.select()}
      />
      <CopyButton text={secret} what={label} look="plain" />
    </div>
  )
}
