import { useState } from 'react'
import { bytes } from '../../format.ts'
import { Button } from '../../parts/Button.tsx'
import { Card } from '../../parts/Card.tsx'
import { CallForm } from './CallForm.tsx'
import { Field } from './Field.tsx'
import { Player } from './Speech.tsx'
import { useCall } from './useCall.ts'
import { useRecorder } from './useRecorder.ts'
import { words } from './words.ts'
import classes from './playground.module.css'

/** The text of a recording: a file, or what the microphone hears. */
export function Transcription() {
  const [model, setModel] = useState('')
  const [file, setFile] = useState<File>()
  const recorder = useRecorder(setFile)
  const call = useCall(async (response) => ((await response.json()) as { text: string }).text)
  return (
    <CallForm
      model={model}
      onModel={setModel}
      fits={(one) => !one.virtual}
      call={call}
      request={model !== '' && file ? { path: '/v1/audio/transcriptions', body: formOf(model, file) } : undefined}
      action={words.transcribe}
      shown={
        call.answer && (
          <Card title={words.transcript}>
            <pre className={classes.said}>{call.answer.value}</pre>
          </Card>
        )
      }
    >
      <div className={classes.bar}>
        <Field label={words.recording}>
          {(id) => (
            <input
              id={id}
              type="file"
              accept="audio/*,video/*"
              onChange={(event) => setFile(event.currentTarget.files?.[0])}
            />
          )}
        </Field>
        <Button onClick={recorder.toggle} aria-pressed={recorder.isOn}>
          {recorder.isOn ? words.stopRecording : words.record}
        </Button>
      </div>
      {recorder.error && (
        <p role="alert" className={classes.error}>
          {recorder.error}
        </p>
      )}
      {file && (
        <>
          <p className={classes.facts}>{words.fileOf(file.name, bytes(file.size))}</p>
          <Player sound={file} />
        </>
      )}
    </CallForm>
  )
}

function formOf(model: string, file: File): FormData {
  const form = new FormData()
  form.append('model', model)
  form.append('response_format', 'json')
  form.append('file', file)
  return form
}
