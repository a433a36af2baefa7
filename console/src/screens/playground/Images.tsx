import { useState } from 'react'
import { Card } from '../../parts/Card.tsx'
import { CallForm } from './CallForm.tsx'
import { Field } from './Field.tsx'
import { imageOf } from './image.ts'
import { useCall } from './useCall.ts'
import { words } from './words.ts'
import classes from './playground.module.css'

interface Generated {
  readonly data: readonly { readonly b64_json?: string; readonly url?: string; readonly revised_prompt?: string }[]
}

/** Pictures of a prompt. Only data is shown: an address that the provider gives is never loaded. */
export default function Images() {
  const [model, setModel] = useState('')
  const [prompt, setPrompt] = useState<string>(words.firstPicture)
  const [size, setSize] = useState('')
  const [asked, setAsked] = useState('')
  const call = useCall(async (response) => ((await response.json()) as Generated).data)
  const request = { path: '/v1/images/generations', body: { model, prompt, ...(size.trim() && { size: size.trim() }) } }
  const send: typeof call.send = (outgoing) => {
    setAsked(prompt)
    call.send(outgoing)
  }
  return (
    <CallForm
      model={model}
      onModel={setModel}
      fits={(one) => !one.virtual}
      call={{ ...call, send }}
      request={model !== '' && prompt.trim() !== '' ? request : undefined}
      action={words.draw}
      shown={
        call.answer && (
          <Card title={words.pictures}>
            <div className={classes.pictures}>
              {call.answer.value.map((one, index) => (
                <Picture key={index} {...one} prompt={asked} />
              ))}
            </div>
          </Card>
        )
      }
    >
      <Field label={words.picturePrompt}>
        {(id) => (
          <textarea id={id} rows={3} value={prompt} onChange={(event) => setPrompt(event.currentTarget.value)} />
        )}
      </Field>
      <Field label={words.size} className={classes.short}>
        {(id) => (
          <input
            id={id}
            value={size}
            placeholder={words.sizeUsual}
            onChange={(event) => setSize(event.currentTarget.value)}
          />
        )}
      </Field>
    </CallForm>
  )
}

type PictureProps = Generated['data'][number] & { readonly prompt: string }

function Picture({ b64_json: data, url, revised_prompt: revised, prompt }: PictureProps) {
  // Some providers give data as an address.
  const source = data === undefined ? (url?.startsWith('data:image/') ? url : undefined) : imageOf(data)
  return (
    <figure className={classes.picture}>
      {source === undefined ? (
        <p>
          {words.addressAlone} <code>{url ?? ''}</code>
        </p>
      ) : (
        <img src={source} alt={prompt} />
      )}
      {revised && <figcaption>{revised}</figcaption>}
    </figure>
  )
}
