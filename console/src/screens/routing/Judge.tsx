import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { count, duration, money, share } from '../../format.ts'
import { Card } from '../../parts/Card.tsx'
import { tiers } from '../../parts/decision.ts'
import { Empty } from '../../parts/Empty.tsx'
import { Loaded } from '../../parts/Loaded.tsx'
import { useRange } from '../../parts/useRange.ts'
import { agreement, decisions, judgeCost } from './api.ts'
import type { Agreed } from './api.ts'
import classes from './routing.module.css'
import { words } from './words.ts'

/** How often the judge agrees with the signals, how long it takes, and what it costs. */
export default function Judge() {
  const query = useQuery(agreement(useRange()))
  return (
    <>
      <Figures />
      <Loaded query={query} height={260}>
        {(agreed) =>
          agreed.length === 0 ? (
            <Card>
              <Empty text={words.noVerdicts}>
                <Link to="/routing" search={{ tab: 'settings' }}>
                  {words.toSettings}
                </Link>
              </Empty>
            </Card>
          ) : (
            <div className={classes.matrices}>
              {[true, false].map((shadow) => {
                const own = agreed.filter((one) => one.shadow === shadow)
                return own.length > 0 && <Matrix key={String(shadow)} shadow={shadow} agreed={own} />
              })}
            </div>
          )
        }
      </Loaded>
    </>
  )
}

function Figures() {
  const range = useRange()
  const query = useQuery(decisions(range))
  const { data: cost } = useQuery(judgeCost(range))
  return (
    <Loaded query={query} height={92}>
      {(rows) => {
        const asked = rows.flatMap(({ judge }) => judge ?? [])
        const times = asked.flatMap(({ latency_ms: latency }) => latency ?? []).toSorted((one, other) => one - other)
        const ofLatest = words.ofLatest(count(rows.length))
        return (
          <dl className={classes.figures}>
            <Figure label={words.asked} value={count(asked.length)} note={ofLatest} />
            <Figure
              label={words.silent}
              value={count(asked.filter(({ verdict }) => verdict === null).length)}
              note={ofLatest}
            />
            <Figure label={words.held} value={count(asked.filter(({ held }) => held).length)} note={ofLatest} />
            <Figure
              label={words.latency}
              value={duration(at(times, 0.5))}
              note={words.slow(duration(at(times, 0.95)))}
            />
            <Figure label={words.judgeCost} value={cost === undefined ? '' : money(cost)} note={words.inRange} />
          </dl>
        )
      }}
    </Loaded>
  )
}

/** The value below which a part of sorted ones lies. */
const at = (sorted: readonly number[], part: number) =>
  sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))]

function Figure({ label, value, note }: { readonly label: string; readonly value: string; readonly note: string }) {
  return (
    <div>
      <dt>{label}</dt>
      <dd>
        <b>{value}</b>
        <span>{note}</span>
      </dd>
    </div>
  )
}

function Matrix({ shadow, agreed }: { readonly shadow: boolean; readonly agreed: readonly Agreed[] }) {
  const countOf = (fits: (one: Agreed) => boolean) => agreed.filter(fits).reduce((sum, one) => sum + one.count, 0)
  const all = countOf(() => true)
  const same = countOf(({ ensemble, judge }) => ensemble === judge)
  const title = shadow ? words.shadow : words.inEffect
  return (
    <Card title={title} note={shadow ? words.shadowNote : words.inEffectNote}>
      <p className={classes.finding}>{words.agrees(share(same / all), count(all))}</p>
      <div className={classes.scroll} tabIndex={0} role="group" aria-label={title}>
        <table className={classes.matrix}>
          <caption>{words.agreementNote}</caption>
          <thead>
            <tr>
              <th scope="col">{words.signals}</th>
              {tiers.map((tier) => (
                <th key={tier} scope="col">
                  {tier}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {tiers.map((ensemble) => {
              const row = countOf((one) => one.ensemble === ensemble)
              return (
                <tr key={ensemble}>
                  <th scope="row">{ensemble}</th>
                  {tiers.map((judge) => {
                    const own = countOf((one) => one.ensemble === ensemble && one.judge === judge)
                    const heat = own === 0 ? 0 : Math.ceil((own / row) * 3)
                    return (
                      <td key={judge} data-same={judge === ensemble || undefined} data-heat={heat}>
                        <b>{count(own)}</b> <span>{share(row === 0 ? null : own / row)}</span>
                      </td>
                    )
                  })}
                </tr>
              )
            })}
          </tbody>
        </table>
      </div>
    </Card>
  )
}
