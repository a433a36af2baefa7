import '@mantine/core/styles/Input.layer.css'
import { Textarea } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import type { FormEvent, ReactNode } from 'react'
import type { Json } from '../../form/schema.ts'
import { duration } from '../../format.ts'
import { Button } from '../../parts/Button.tsx'
import { Card } from '../../parts/Card.tsx'
import { Fact, Facts } from '../../parts/Facts.tsx'
import { Failure } from '../../parts/Failure.tsx'
import { Segments } from '../../parts/Segments.tsx'
import { Status } from '../../parts/Status.tsx'
import { test } from './api.ts'
import type { Tried } from './api.ts'
import { words } from './words.ts'
import classes from './guards.module.css'

const sides = (['input', 'output'] as const).map((value) => ({ value, label: words.asSides[value] }))

interface TryTextProps {
  /** Its name, or the fields of one that is not saved. */
  readonly guard: string | { readonly [name: string]: Json }
}

/** Lets a guard judge a text. The text lives with this box alone. */
export function TryText({ guard }: TryTextProps) {
  const [text, setText] = useState('')
  const [side, setSide] = useState<'input' | 'output'>('input')
  const trial = useMutation({
    mutationFn: async (given: string) => ({ text: given, tried: await test({ guard, text: given, side }) }),
    gcTime: 0,
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    trial.mutate(text)
  }
  return (
    <Card title={words.tryTitle} note={words.tryNote}>
      <form className={classes.stack} onSubmit={submit}>
        <Textarea
          label={words.text}
          value={text}
          onChange={(event) => setText(event.currentTarget.value)}
          rows={5}
          maxLength={100_000}
          autoComplete="off"
          spellCheck={false}
        />
        <div className={classes.ask}>
          <Segments label={words.side} options={sides} value={side} onChange={setSide} />
          <Button type="submit" busy={trial.isPending}>
            {words.try}
          </Button>
        </div>
      </form>
      {trial.error && <Failure error={trial.error} />}
      {trial.data && <Result {...trial.data} />}
    </Card>
  )
}

function Result({ text, tried }: { readonly text: string; readonly tried: Tried }) {
  const { hit, action, texts, hits, category, score, milliseconds } = tried
  const entities = Map.groupBy(hits, ({ entity }) => entity ?? words.unnamed)
  const becomes = texts[0] ?? ''
  const failed = action === 'error'
  return (
    <div className={classes.result} role="group" aria-label={words.result}>
      <div role="status">
        <Status state={failed ? 'bad' : hit ? 'warning' : 'good'}>
          {failed ? words.failed : hit ? words.found : words.notFound}
        </Status>
      </div>
      <Facts>
        {hit && <Fact name={words.follows}>{action}</Fact>}
        {entities.size > 0 && (
          <Fact name={words.entities}>
            {[...entities].map(([name, places]) => words.entity(name, places.length)).join(', ')}
          </Fact>
        )}
        {category !== null && <Fact name={failed ? words.reason : words.category}>{category}</Fact>}
        {score !== null && <Fact name={words.score}>{score.toFixed(2)}</Fact>}
        <Fact name={words.took}>{duration(milliseconds)}</Fact>
      </Facts>
      {hits.length > 0 && (
        <Shown label={words.places}>
          <Marked text={text} hits={hits} />
        </Shown>
      )}
      {becomes !== text && <Shown label={words.becomes}>{becomes}</Shown>}
    </div>
  )
}

function Shown({ label, children }: { readonly label: string; readonly children: ReactNode }) {
  return (
    <div>
      <h3>{label}</h3>
      <p className={classes.text} role="group" aria-label={label} tabIndex={0}>
        {children}
      </p>
    </div>
  )
}

/** A text with the places that were found. Of places that overlap, the first is marked as far as it goes. */
function Marked({ text, hits }: { readonly text: string; readonly hits: Tried['hits'] }) {
  const pieces: ReactNode[] = []
  let done = 0
  for (const { start, end, entity } of hits.toSorted((one, other) => one.start - other.start || other.end - one.end)) {
    if (end <= done) continue
    const from = Math.max(start, done)
    pieces.push(
      text.slice(done, from),
      <mark key={from} title={entity ?? undefined}>
        {text.slice(from, end)}
      </mark>,
    )
    done = end
  }
  return [...pieces, text.slice(done)]
}
