import '@mantine/core/styles/Input.layer.css'
import { TextInput } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { FormEvent } from 'react'
import { Refusal } from '../../api/ask.ts'
import { oneOf, useAddress } from '../../parts/search.ts'
import { Button } from '../../parts/Button.tsx'
import { Failure } from '../../parts/Failure.tsx'
import { SecretOnce } from '../../parts/SecretOnce.tsx'
import { holdKey } from '../../parts/useKey.ts'
import { useUser } from '../../parts/useUser.ts'
import { askable, makeKey } from './api.ts'
import type { StepProps } from './steps.ts'
import { words } from './words.ts'
import classes from './set-up.module.css'

/** Makes a key of the user, which the playground then asks with. */
export function KeyStep({ onDone }: StepProps) {
  const queries = useQueryClient()
  const user = useUser()
  const [search] = useAddress()
  const { data: models } = useQuery(askable)
  const [name, setName] = useState<string>(words.firstKey)
  const made = useMutation({
    mutationFn: (owner: string) => makeKey(name, owner),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['keys'] }),
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (user && !made.isPending) made.mutate(user.id)
  }
  const atName = made.error instanceof Refusal && isOfName(made.error) ? made.error.message : undefined
  const go = (key: string) => {
    holdKey(key)
    const model = oneOf(search, 'model') ?? models?.[0]
    onDone('/playground', model === undefined ? {} : { model })
  }
  return (
    <form className={classes.form} onSubmit={submit}>
      {made.error && atName === undefined && <Failure error={made.error} />}
      <TextInput
        label={words.keyName}
        value={name}
        error={atName}
        maw={320}
        autoComplete="off"
        spellCheck={false}
        onChange={(event) => setName(event.currentTarget.value)}
      />
      <div>
        <Button type="submit" look="primary" busy={made.isPending}>
          {words.makeKey}
        </Button>
      </div>
      {made.data && (
        <SecretOnce
          title={words.newKey}
          label={words.key}
          secret={made.data.key}
          text={words.newKeyText(made.data.name)}
          onKept={() => go(made.data.key)}
        />
      )}
    </form>
  )
}

const isOfName = ({ param, code }: Refusal) => param === 'name' || code === 'name_taken'
