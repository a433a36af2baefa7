import '@mantine/core/styles/Input.layer.css'
import { TextInput } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { setUp } from '../../api/account.ts'
import { useSetupToken } from '../../api/setup-token.ts'
import { ButtonLink } from '../../parts/Button.tsx'
import { Door, doorForm } from '../../parts/Door.tsx'
import { PasswordForm } from '../../parts/PasswordForm.tsx'
import { shared } from '../../words.ts'
import { words } from './words.ts'

/** Makes the first account, with the token of the link that the gateway printed, and goes on to what comes next. */
export default function SetUp() {
  const navigate = useNavigate()
  const setupToken = useSetupToken()
  if (setupToken === undefined)
    return (
      <Door title={words.title} text={words.noToken}>
        <ButtonLink className={doorForm} to="/sign-in">
          {shared.signIn}
        </ButtonLink>
      </Door>
    )
  return (
    <Door title={words.title} text={words.text}>
      <Account
        key={setupToken}
        token={setupToken}
        onDone={() => navigate({ to: '/setup/provider', search: {}, replace: true })}
      />
    </Door>
  )
}

function Account({ token, onDone }: { readonly token: string; readonly onDone: () => unknown }) {
  const [username, setUsername] = useState('')
  return (
    <PasswordForm
      label={shared.password}
      param="password"
      other="username"
      action={words.create}
      send={(password) => setUp(token, { username, password }).then(onDone)}
    >
      {(error) => (
        <TextInput
          label={shared.username}
          value={username}
          error={error}
          autoComplete="username"
          autoCapitalize="none"
          spellCheck={false}
          autoFocus
          onChange={(event) => setUsername(event.currentTarget.value)}
        />
      )}
    </PasswordForm>
  )
}
