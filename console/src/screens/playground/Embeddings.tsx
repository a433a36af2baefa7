import { useState } from 'react'
import { count } from '../../format.ts'
import { Card } from '../../parts/Card.tsx'
import { CallForm } from './CallForm.tsx'
import { Field } from './Field.tsx'
import { useCall } from './useCall.ts'
import { words } from './words.ts'
import classes from './playground.module.css'

interface Embedded {
  readonly data: readonly { readonly embedding: readonly number[] }[]
}

/** How many numbers of a vector are shown. */
const shownNumbers = 6

/** Vectors of some texts, and how near each is to the first one. */
export default function Embeddings() {
  const [model, setModel] = useState('')
  const [text, setText] = useState<string>(words.firstTexts)
  const [asked, setAsked] = useState<readonly string[]>([])
  const call = useCall(async (response) => ((await response.json()) as Embedded).data.map(({ embedding }) => embedding))
  const input = text.split('\n').flatMap((line) => line.trim() || [])
  const request = { path: '/v1/embeddings', body: { model, input, encoding_format: 'float' } }
  const send: typeof call.send = (outgoing) => {
    setAsked(input)
    call.send(outgoing)
  }
  return (
    <CallForm
      model={model}
      onModel={setModel}
      fits={(one) => !one.virtual}
      call={{ ...call, send }}
      request={model !== '' && input.length > 0 ? request : undefined}
      action={words.embed}
      shown={call.answer && <Vectors vectors={call.answer.value} texts={asked} />}
    >
      <Field label={words.texts}>
        {(id) => <textarea id={id} rows={5} value={text} onChange={(event) => setText(event.currentTarget.value)} />}
      </Field>
    </CallForm>
  )
}

interface VectorsProps {
  readonly vectors: readonly (readonly number[])[]
  readonly texts: readonly string[]
}

function Vectors({ vectors, texts }: VectorsProps) {
  const [first = []] = vectors
  return (
    <Card title={words.vectors} note={words.dimensions(count(first.length))}>
      <div className={classes.scroll} tabIndex={0} role="group" aria-label={words.vectors}>
        <table className={classes.table}>
          <caption className="visually-hidden">{words.vectors}</caption>
          <thead>
            <tr>
              <th scope="col">{words.text}</th>
              <th scope="col">{words.similarity}</th>
              <th scope="col">{words.numbers}</th>
            </tr>
          </thead>
          <tbody>
            {vectors.map((vector, index) => (
              <tr key={index}>
                <td>{texts[index]}</td>
                <td>{similarity(first, vector).toFixed(3)}</td>
                <td>
                  <code>{`${vector
                    .slice(0, shownNumbers)
                    .map((one) => one.toFixed(4))
                    .join(' ')} …`}</code>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Card>
  )
}

/** The cosine of the angle between two vectors. */
function similarity(one: readonly number[], other: readonly number[]): number {
  const product = (left: readonly number[], right: readonly number[]) =>
    left.reduce((sum, value, index) => sum + value * (right[index] ?? 0), 0)
  const size = Math.sqrt(product(one, one) * product(other, other))
  return size === 0 ? 0 : product(one, other) / size
}
