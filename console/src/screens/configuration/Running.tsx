import type { ReactNode } from 'react'
import type { ConfigurationStatus } from '../../api/status.ts'
import { ago } from '../../format.ts'
import { Card } from '../../parts/Card.tsx'
import { CopyButton } from '../../parts/CopyButton.tsx'
import { Status } from '../../parts/Status.tsx'
import { words } from './words.ts'
import classes from './configuration.module.css'

interface RunningProps {
  readonly status: ConfigurationStatus
  readonly actions: ReactNode
}

/** The version that runs, its files, and what was wrong with the latest ones. */
export function Running({ status: { version, loaded_at: loaded, files, error, off }, actions }: RunningProps) {
  return (
    <Card title={words.running} actions={actions}>
      <dl className={classes.facts}>
        <dt>{words.version}</dt>
        <dd>
          <code>{version}</code>
        </dd>
        <dt>{words.loaded}</dt>
        <dd>
          <time dateTime={loaded} title={loaded}>
            {ago(loaded)}
          </time>
        </dd>
        <dt>{words.files}</dt>
        <dd>
          <details>
            <summary>{words.fileCount(files.length)}</summary>
            <ul>
              {files.map((file) => (
                <li key={file}>
                  <code>{file}</code>
                </li>
              ))}
            </ul>
          </details>
        </dd>
      </dl>
      {error ? (
        <div className={classes.findings} role="alert">
          <Status state="bad">{words.refused}</Status>
          <p>{words.refusedText(ago(error.at))}</p>
          {error.findings.map(({ file, line, column, message }) => {
            const place = `${file}:${line}:${column}`
            return (
              <div key={`${place} ${message}`}>
                <div className={classes.place}>
                  <code>{place}</code>
                  <CopyButton text={place} what={words.copyPlace} />
                </div>
                <p>{message}</p>
              </div>
            )
          })}
        </div>
      ) : (
        <div className={classes.findings}>
          <Status state="good">{words.fine}</Status>
        </div>
      )}
      {off.length > 0 && (
        <>
          <h3>{words.off}</h3>
          <ul className={classes.list}>
            {off.map((sentence) => (
              <li key={sentence}>{sentence}</li>
            ))}
          </ul>
        </>
      )}
    </Card>
  )
}
