import { useCallback, useState } from 'react'
import { Card } from '../../parts/Card.tsx'
import { CallForm } from './CallForm.tsx'
import { Field } from './Field.tsx'
import { useCall } from './useCall.ts'
import { words } from './words.ts'
import classes from './playground.module.css'

/** A text, read aloud. */
export function Speech() {
  const [model, setModel] = useState('')
  const [voice, setVoice] = useState('alloy')
  const [input, setInput] = useState<string>(words.firstSpeech)
  const call = useCall((response) => response.blob())
  const request = { path: '/v1/audio/speech', body: { model, voice, input } }
  return (
    <CallForm
      model={model}
      onModel={setModel}
      fits={(one) => !one.virtual}
      call={call}
      request={model !== '' && voice !== '' && input.trim() !== '' ? request : undefined}
      action={words.speak}
      shown={
        call.answer && (
          <Card title={words.spoken}>
            <Player sound={call.answer.value} />
          </Card>
        )
      }
    >
      <Field label={words.speechText}>
        {(id) => <textarea id={id} rows={4} value={input} onChange={(event) => setInput(event.currentTarget.value)} />}
      </Field>
      <Field label={words.voice} className={classes.short}>
        {(id) => <input id={id} value={voice} onChange={(event) => setVoice(event.currentTarget.value)} />}
      </Field>
    </CallForm>
  )
}

/** Plays a sound from memory. */
export function Player({ sound }: { readonly sound: Blob }) {
  const play = useCallback(
    (player: HTMLAudioElement) => {
      const address = URL.createObjectURL(sound)
      player.src = address
      return () => URL.revokeObjectURL(address)
    },
    [sound],
  )
  return <audio className={classes.player} controls ref={play} aria-label={words.spoken} />
}
