import type { Outgoing } from './post.ts'
import { words } from './words.ts'
import classes from './playground.module.css'

/** A request as it goes out: its path and its body. */
export function OutgoingRequest({ request: { path, body } }: { readonly request: Outgoing }) {
  return (
    <details className={classes.details}>
      <summary>{words.outgoing}</summary>
      <pre className={classes.outgoing} tabIndex={0}>{`POST ${path}\n\n${textOf(body)}`}</pre>
    </details>
  )
}

function textOf(body: Outgoing['body']): string {
  if (!(body instanceof FormData)) return JSON.stringify(body, null, 2)
  return [...body].map(([name, value]) => `${name}: ${typeof value === 'string' ? value : value.name}`).join('\n')
}
