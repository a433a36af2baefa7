import '@mantine/core/styles/Input.layer.css'
import '@mantine/core/styles/Combobox.layer.css'
import { Select, Textarea } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { FormEvent } from 'react'
import { Button } from '../../parts/Button.tsx'
import { Card } from '../../parts/Card.tsx'
import { Decision } from '../../parts/Decision.tsx'
import { fromPreview } from '../../parts/decision.ts'
import { Failure } from '../../parts/Failure.tsx'
import { Segments } from '../../parts/Segments.tsx'
import { keyNames, modes, preview } from './api.ts'
import type { Mode } from './api.ts'
import classes from './routing.module.css'
import { words } from './words.ts'

const options = modes.map((value) => ({ value, label: words.modes[value] }))

/** How a prompt would be routed. `settings` are tried: changes that are laid over the settings that run. */
export function Preview({ settings }: { readonly settings?: object }) {
  const [mode, setMode] = useState<Mode>('auto')
  const [prompt, setPrompt] = useState('')
  const [key, setKey] = useState<string | null>(null)
  const { data: keys = [] } = useQuery(keyNames)
  const { mutate, data, error, isPending } = useMutation({ mutationFn: preview })
  const ask = (event: FormEvent) => {
    event.preventDefault()
    if (prompt.trim() !== '')
      mutate({ model: mode, prompt, ...(key !== null && { key }), ...(settings && { settings }) })
  }
  return (
    <>
      <Card title={words.preview} note={words.previewNote}>
        <form className={classes.form} onSubmit={ask}>
          <p className={classes.faint}>{settings ? words.previewingChanged : words.previewing}</p>
          <Textarea
            label={words.prompt}
            value={prompt}
            rows={4}
            onChange={(event) => setPrompt(event.currentTarget.value)}
          />
          <div className={classes.asked}>
            <Segments label={words.mode} options={options} value={mode} onChange={setMode} />
            <Select
              aria-label={words.key}
              placeholder={words.noKey}
              searchable
              clearable
              data={[...keys]}
              value={key}
              onChange={setKey}
            />
            <Button look="primary" type="submit" busy={isPending}>
              {words.preview}
            </Button>
          </div>
        </form>
        {error && <Failure error={error} />}
      </Card>
      {data && <Decision decision={fromPreview(data)} />}
    </>
  )
}
