import type { ReactNode } from 'react'
import { count, duration, money, share } from '../../format.ts'
import { Card } from '../../parts/Card.tsx'
import { Money } from '../../parts/Money.tsx'
import type { Detail } from './row.ts'
import { words } from './request-words.ts'
import classes from './request.module.css'

/** Who served whom, how fast, and for how much. */
export function Figures({ request }: { readonly request: Detail }) {
  const { requested, model, provider, key, member, usage, cost, routing, tries } = request
  const served = tries.find(({ error }) => error === null)
  const savings = routing?.actual?.savings ?? null
  return (
    <Card label={words.figures} className={classes.figures}>
      <Figure label={words.servedBy} note={requested !== null && words.askedFor(requested, provider)}>
        {model ?? words.nobody}
      </Figure>
      <Figure label={words.key} note={member?.username == null ? words.noOwner : words.owner(member.username)}>
        {key?.name ?? words.noKey}
      </Figure>
      <Figure label={words.firstByte} note={served && tries.length > 1 && words.ofTry(duration(served.duration_ms))}>
        {duration(request.first_byte_ms)}
      </Figure>
      <Figure label={words.duration} note={words.gateway(duration(ownTime(request)))}>
        {duration(request.duration_ms)}
      </Figure>
      <Figure
        label={words.tokens}
        note={usage ? usage.total > 0 && words.fromCache(share(usage.cache_read / usage.total)) : words.unknownTokens}
      >
        <span title={String(usage?.total ?? '')}>{count(usage?.total)}</span>
      </Figure>
      <Figure
        label={words.cost}
        note={savings === null ? cost === null && words.unpriced : words.saved(money(savings))}
      >
        <Money usd={cost} />
      </Figure>
    </Card>
  )
}

/** How long the stages worked without waiting for a provider. */
function ownTime({ times: { upstream = 0, ...stages } }: Detail): number {
  return Math.max(0, Object.values(stages).reduce((sum, time) => sum + time, 0) - upstream)
}

interface FigureProps {
  readonly label: string
  readonly note?: ReactNode
  readonly children: ReactNode
}

function Figure({ label, note, children }: FigureProps) {
  return (
    <div className={classes.figure}>
      <div className={classes.label}>{label}</div>
      <div className={classes.value}>{children}</div>
      <div className={classes.note} title={typeof note === 'string' ? note : undefined}>
        {note}
      </div>
    </div>
  )
}
