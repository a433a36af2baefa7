import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { notifications } from '../api/attention.ts'
import type { Cause } from '../api/attention.ts'
import { configurationStatus } from '../api/status.ts'
import { ButtonLink } from '../parts/Button.tsx'
import { AttentionLine as Line } from './AttentionLine.tsx'
import { factOf } from './facts.ts'
import { OpenCircuit } from './OpenCircuit.tsx'
import { words } from './words.ts'

/** How many circuits have a line of their own. */
const mostCircuits = 3
/** Milliseconds after which a target that is not reached has a line. */
const longFailing = 3_600_000

/** The causes that people are told of, one line each. For admins. */
export function useCauses(isAdmin: boolean): readonly ReactNode[] {
  const { data } = useQuery({ ...notifications, enabled: isAdmin })
  const { data: status } = useQuery({ ...configurationStatus, enabled: isAdmin })
  if (!isAdmin || data === undefined) return []
  const { open, targets } = data
  const of = (cause: Cause['cause']) => open.filter((one) => one.cause === cause)
  const circuits = of('circuit')
  const [refused] = of('reload_refused')
  const failing = targets.filter(({ failing_since: at }) => at !== null && Date.parse(at) <= Date.now() - longFailing)
  return [
    ...circuits.slice(0, mostCircuits).map((one) => <OpenCircuit key={one.subject} cause={one} />),
    circuits.length > mostCircuits && (
      <Line key="circuits" state="warning" title={words.moreCircuits} actions={<Door path="/configuration" />}>
        {words.moreCircuitsText(circuits.length - mostCircuits)}
      </Line>
    ),
    refused && <Refused key="configuration" cause={refused} message={status?.error?.findings[0]?.message} />,
    ...open
      .filter(({ cause }) => !(cause in ofTheirOwn))
      .map((one) => (
        <Line
          key={`${one.cause} ${one.subject}`}
          state={grave.includes(one.cause) ? 'bad' : 'warning'}
          title={words.causes[one.cause] ?? words.otherPart}
          actions={<Door path={one.path} />}
        >
          {textOf(one)}
        </Line>
      )),
    ...failing.map(({ name, problem }) => (
      <Line
        key={`target ${name}`}
        state="warning"
        title={words.targetFailing}
        actions={<Door path="/settings/notifications" />}
      >
        {words.targetFailingText(name, problem)}
      </Line>
    )),
  ]
}

/** Causes whose lines are made elsewhere: a line of budgets is for those, too, who may not see causes. */
const ofTheirOwn = { circuit: true, reload_refused: true, budget: true } as const

const grave: readonly Cause['cause'][] = ['store_down', 'audit_broken', 'rows_lost', 'disk_low']

function textOf({ cause, subject, facts }: Cause): ReactNode {
  if (cause === 'audit_broken')
    return (
      <>
        {words.auditBrokenText(Number(facts['row']))} <code>{factOf(facts, 'reason')}</code>
      </>
    )
  return words.causeTexts[`${cause} ${factOf(facts, 'store') ?? ''}`.trim()] ?? `${subject}.`
}

function Refused({ cause: { facts }, message }: { readonly cause: Cause; readonly message: string | undefined }) {
  const [place = ''] = Array.isArray(facts['places']) ? facts['places'].map(String) : []
  const findings = Number(facts['findings'])
  return (
    <Line state="bad" title={words.refusedConfiguration} actions={<Door path="/configuration" />}>
      <code>{place.replace(/ \[.*$/, '')}</code> {message} {findings > 1 && words.moreFindings(findings - 1)}
    </Line>
  )
}

/** The way to where it can be seen. */
function Door({ path }: { readonly path: string }) {
  const [to = '/', query = ''] = path.split('?')
  const label = to === '/configuration' ? words.showConfiguration : to === '/audit' ? words.showRow : words.show
  return (
    <ButtonLink small to={to} search={Object.fromEntries(new URLSearchParams(query))}>
      {label}
    </ButtonLink>
  )
}
