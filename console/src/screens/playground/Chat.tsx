import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { FormEvent, KeyboardEvent } from 'react'
import { oneOf, useAddress } from '../../parts/search.ts'
import { Button } from '../../parts/Button.tsx'
import { Card } from '../../parts/Card.tsx'
import { Segments } from '../../parts/Segments.tsx'
import { Skeleton } from '../../parts/Skeleton.tsx'
import { useKey } from '../../parts/useKey.ts'
import { pastAsk } from './api.ts'
import type { Asked } from './asked.ts'
import { Client, ModelField } from './Client.tsx'
import { Field } from './Field.tsx'
import { OutgoingRequest } from './OutgoingRequest.tsx'
import { Pane } from './Pane.tsx'
import type { ProtocolName } from './protocols.ts'
import { outgoing } from './send.ts'
import { useConversation } from './useConversation.ts'
import { words } from './words.ts'
import classes from './playground.module.css'

const protocols = (['chat', 'messages', 'responses'] as const).map((value) => ({
  value,
  label: words.protocols[value],
}))

/** A conversation with a model, or with two side by side. The address may name a model, and a request to ask again. */
export function Chat() {
  const [search] = useAddress()
  const id = oneOf(search, 'request')
  const { data, isLoading } = useQuery({ ...pastAsk(id ?? ''), enabled: id !== undefined })
  if (isLoading) return <Skeleton height={420} />
  return <Conversation key={id} begun={oneOf(search, 'model')} asked={data ?? undefined} />
}

interface ConversationProps {
  /** The model that the address names; whoever comes with it came to ask it. */
  readonly begun: string | undefined
  readonly asked: Asked | undefined
}

function Conversation({ begun, asked }: ConversationProps) {
  const [key] = useKey()
  const [model, setModel] = useState(begun ?? 'auto')
  const [other, setOther] = useState<string | null>(null)
  const [protocol, setProtocol] = useState<ProtocolName>('chat')
  const [system, setSystem] = useState(asked?.system ?? '')
  const [maxTokens, setMaxTokens] = useState('')
  const [temperature, setTemperature] = useState('')
  const [text, setText] = useState<string>(asked?.text ?? words.greeting)
  const [wants, setWants] = useState(false)
  const first = useConversation()
  const second = useConversation()
  const busy = first.busy || second.busy
  const parameters = { system, maxTokens: numberOf(maxTokens), temperature: numberOf(temperature) }
  const messageFor = (name: string) => ({ protocol, model: name, parameters })
  const shown = outgoing({ ...messageFor(model), turns: [...first.turns, { role: 'user', text }] })

  const send = (event?: FormEvent) => {
    event?.preventDefault()
    if (busy || text.trim() === '') return
    setWants(key === '')
    if (key === '') return
    setText('')
    void first.say(text, messageFor(model), key)
    if (other !== null) void second.say(text, messageFor(other), key)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return
    event.preventDefault()
    send()
  }

  return (
    <>
      <Card>
        <Client
          model={model}
          onModel={setModel}
          needsKey={wants && key === ''}
          beside={other !== null && <ModelField label={words.other} value={other} onChange={setOther} />}
        >
          <Segments label={words.protocol} options={protocols} value={protocol} onChange={setProtocol} />
          <Button onClick={() => setOther(other === null ? 'best' : null)}>
            {other === null ? words.compare : words.compareOff}
          </Button>
        </Client>
        <div className={classes.parameters}>
          <Field label={words.system}>
            {(id) => <input id={id} value={system} onChange={(event) => setSystem(event.currentTarget.value)} />}
          </Field>
          <Field label={words.maxTokens}>
            {(id) => (
              <input
                id={id}
                type="number"
                min={1}
                value={maxTokens}
                onChange={(event) => setMaxTokens(event.currentTarget.value)}
              />
            )}
          </Field>
          <Field label={words.temperature}>
            {(id) => (
              <input
                id={id}
                type="number"
                min={0}
                max={2}
                step={0.1}
                value={temperature}
                onChange={(event) => setTemperature(event.currentTarget.value)}
              />
            )}
          </Field>
        </div>
        <OutgoingRequest request={shown} />
      </Card>
      <div className={classes.panes}>
        <Pane model={model} talk={first} alone={other === null} />
        {other !== null && <Pane model={other} talk={second} alone={false} other />}
      </div>
      <form className={classes.say} onSubmit={send}>
        <Field label={words.message} className={classes.message}>
          {(id) => (
            <textarea
              id={id}
              rows={3}
              autoFocus={begun !== undefined}
              value={text}
              placeholder={words.placeholder}
              onChange={(event) => setText(event.currentTarget.value)}
              onKeyDown={onKeyDown}
            />
          )}
        </Field>
        {busy ? (
          <Button
            onClick={() => {
              first.stop()
              second.stop()
            }}
          >
            {words.stop}
          </Button>
        ) : (
          <Button look="primary" type="submit">
            {words.send}
          </Button>
        )}
        {first.turns.length > 0 && !busy && (
          <Button
            onClick={() => {
              first.clear()
              second.clear()
            }}
          >
            {words.clear}
          </Button>
        )}
      </form>
    </>
  )
}

const numberOf = (text: string) => (text === '' || Number.isNaN(Number(text)) ? null : Number(text))
