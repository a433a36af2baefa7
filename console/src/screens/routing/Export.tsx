import '@mantine/core/styles/Input.layer.css'
import { TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import type { FormEvent } from 'react'
import { bytes, count } from '../../format.ts'
import { Button } from '../../parts/Button.tsx'
import { Card } from '../../parts/Card.tsx'
import { CopyButton } from '../../parts/CopyButton.tsx'
import { Failure } from '../../parts/Failure.tsx'
import { Segments } from '../../parts/Segments.tsx'
import { download, save } from './download.ts'
import type { Downloaded, Progress } from './download.ts'
import classes from './routing.module.css'
import { words } from './words.ts'

const corpora = (['all', 'feedback', 'judge_shadow'] as const).map((value) => ({ value, label: words.corpora[value] }))
type Corpus = (typeof corpora)[number]['value']

/** Rated and judged decisions as a file, which grows before one's eyes. */
export default function Export() {
  const [format, setFormat] = useState<Corpus>('all')
  const [since, setSince] = useState('')
  const [limit, setLimit] = useState('50000')
  const [progress, setProgress] = useState<Progress>()
  const running = useRef<AbortController>(null)
  const { mutate, data, error, isPending } = useMutation({
    mutationFn: async () => {
      const control = (running.current = new AbortController())
      setProgress({ rows: 0, bytes: 0 })
      const query = { format, limit, ...(since.trim() && { since: since.trim() }) }
      const downloaded = await download(query, control.signal, setProgress)
      if (downloaded.rows > 0) save(downloaded.file, fileOf(format))
      return downloaded
    },
  })
  const start = (event: FormEvent) => {
    event.preventDefault()
    if (!isPending) mutate()
  }
  const isStopped = error?.name === 'AbortError'
  return (
    <Card title={words.export} note={words.exportNote} className={classes.narrow}>
      <form className={classes.form} onSubmit={start}>
        <Segments label={words.corpus} options={corpora} value={format} onChange={setFormat} />
        <TextInput
          label={words.since}
          description={words.sinceHint}
          placeholder="2027-01-31T12:00:00Z"
          value={since}
          onChange={(event) => setSince(event.currentTarget.value)}
        />
        <TextInput
          label={words.limit}
          inputMode="numeric"
          value={limit}
          onChange={(event) => setLimit(event.currentTarget.value)}
        />
        <div className={classes.bar}>
          {isPending ? (
            <Button onClick={() => running.current?.abort()}>{words.stop}</Button>
          ) : (
            <Button look="primary" type="submit" icon="download">
              {words.download}
            </Button>
          )}
          <span role="status">
            {isPending && progress && words.progress(count(progress.rows), bytes(progress.bytes))}
            {isStopped && words.stopped}
            {data && !isPending && sentenceOf(data, format)}
          </span>
        </div>
        {data?.newest && !isPending && (
          <p className={classes.bar}>
            {words.newest} <code>{data.newest}</code> <CopyButton text={data.newest} what={words.since} />
          </p>
        )}
      </form>
      {error && !isStopped && <Failure error={error} />}
    </Card>
  )
}

const fileOf = (format: Corpus) => `routing-${format}.ndjson`

const sentenceOf = ({ rows, bytes: size }: Downloaded, format: Corpus) =>
  rows === 0 ? words.noRowsToExport : words.done(count(rows), bytes(size), fileOf(format))
