import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useCallback, useSyncExternalStore } from 'react'
import type { ReactNode } from 'react'
import { Link } from '@tanstack/react-router'
import { auditVerdict, breakers, health, newerBuild, systemInfo } from '../api/attention.ts'
import type { AuditVerdict } from '../api/attention.ts'
import { askNow, onSilence, secondsOfSilence } from '../api/silence.ts'
import { configurationStatus } from '../api/status.ts'
import { count, share } from '../format.ts'
import { partsOf, stateOf } from '../parts/budgets.ts'
import type { Bucket } from '../parts/budgets.ts'
import { Button, ButtonLink } from '../parts/Button.tsx'
import { nearestBudgets } from '../parts/nearest-budgets.ts'
import { useUser } from '../parts/useUser.ts'
import { shared } from '../words.ts'
import { AttentionLine as Line } from './AttentionLine.tsx'
import { OpenCircuit } from './OpenCircuit.tsx'
import { words } from './words.ts'
import classes from './Attention.module.css'

/** What is wrong now, one line each. A line goes when its cause does. */
export function Attention() {
  const user = useUser()
  const ofServing = useServing()
  const ofParts = useParts(user?.isAdmin ?? false)
  const { data: budgets = [] } = useQuery(nearestBudgets(user))
  const { data: isOld = false } = useQuery(newerBuild)
  // Who was given nothing has not used it up.
  const near = budgets.filter((bucket) => bucket.budget?.usd !== 0 && stateOf(bucket) !== undefined)
  const lines = [
    ...ofServing,
    ...ofParts,
    near.length > 0 && <BudgetsAtEnd key="budgets" near={near} />,
    isOld && (
      <Line
        key="build"
        state="off"
        title={words.newBuild}
        actions={
          <Button small onClick={() => location.reload()}>
            {words.reloadPage}
          </Button>
        }
      >
        {words.newBuildText}
      </Line>
    ),
  ].filter(Boolean)
  if (lines.length === 0) return null
  return (
    <section className={classes.strip} aria-label={words.attention}>
      {lines}
    </section>
  )
}

/** Whether the gateway answers, and whether it goes on to: what everybody should know. */
function useServing(): readonly ReactNode[] {
  const isSilent = useSyncExternalStore(onSilence, secondsOfSilence) !== null
  const outdated = useOutdated()
  const queries = useQueryClient()
  const { data } = useQuery(health)
  return [
    isSilent && (
      <Line
        key="silence"
        state="bad"
        title={words.silent}
        actions={
          <Button small onClick={askNow}>
            {shared.retry}
          </Button>
        }
      >
        {words.silentText}
      </Line>
    ),
    outdated && !isSilent && (
      <Line
        key="outdated"
        state="warning"
        title={words.outdated}
        actions={
          <Button small onClick={() => void queries.refetchQueries({ type: 'active' })}>
            {shared.retry}
          </Button>
        }
      >
        {words.outdatedText(outdated.message)}
      </Line>
    ),
    data?.draining && (
      <Line key="draining" state="warning" title={words.draining}>
        {words.drainingText}
      </Line>
    ),
  ]
}

/** How many circuits have a line of their own. */
const mostCircuits = 3

/** The parts of the gateway that do not work as they should. For admins. */
function useParts(isAdmin: boolean): readonly ReactNode[] {
  const enabled = isAdmin
  const { data: circuits = [] } = useQuery({ ...breakers, enabled })
  const { data: status } = useQuery({ ...configurationStatus, enabled })
  const { data: system } = useQuery({ ...systemInfo, enabled })
  const { data: verdict } = useQuery({ ...auditVerdict, enabled })
  const { data: { degraded = [] } = {} } = useQuery({ ...health, enabled })
  if (!isAdmin) return []
  const open = circuits.filter(({ state }) => state !== 'closed')
  const findings = status?.error?.findings ?? []
  const risks = status?.risks ?? []
  const others = status?.processes.filter(({ current }) => !current).length ?? 0
  const bad = verdict?.first_bad
  const toConfiguration = (
    <ButtonLink small to="/configuration">
      {words.showConfiguration}
    </ButtonLink>
  )
  return [
    ...open.slice(0, mostCircuits).map((one) => <OpenCircuit key={`${one.provider} ${one.model}`} {...one} />),
    open.length > mostCircuits && (
      <Line key="circuits" state="warning" title={words.moreCircuits} actions={toConfiguration}>
        {words.moreCircuitsText(open.length - mostCircuits)}
      </Line>
    ),
    findings[0] && (
      <Line key="configuration" state="bad" title={words.refusedConfiguration} actions={toConfiguration}>
        <code>{`${findings[0].file}:${findings[0].line}:${findings[0].column}`}</code> {findings[0].message}{' '}
        {findings.length > 1 && words.moreFindings(findings.length - 1)}
      </Line>
    ),
    risks[0] && (
      <Line key="risks" state="warning" title={words.risks} actions={toConfiguration}>
        <code>{`${risks[0].file}:${risks[0].line}:${risks[0].column}`}</code> {risks[0].message}{' '}
        {risks.length > 1 && words.moreFindings(risks.length - 1)}
      </Line>
    ),
    ...degraded.map((part) => (
      <Line
        key={`part ${part}`}
        state={part === 'key_value' ? 'bad' : 'warning'}
        title={words.parts[part]?.title ?? words.otherPart}
        actions={part === 'records' && toConfiguration}
      >
        {words.parts[part]?.text ?? words.otherPartText(part)}
      </Line>
    )),
    system && system.log.dropped_rows > 0 && (
      <Line key="rows" state="warning" title={words.dropped}>
        {words.droppedText(system.log.dropped_rows)}
      </Line>
    ),
    others > 0 && (
      <Line key="processes" state="warning" title={words.otherVersions} actions={toConfiguration}>
        {words.otherVersionsText(others)}
      </Line>
    ),
    bad && <AuditFlaw key="audit" {...bad} />,
  ]
}

function AuditFlaw({ sequence, reason }: NonNullable<AuditVerdict['first_bad']>) {
  const unproven = words.auditUnproven[reason]
  if (unproven)
    return (
      <Line state="warning" title={unproven.title}>
        {unproven.text}
      </Line>
    )
  const actions = (
    <ButtonLink small to="/audit" search={{ row: String(sequence) }}>
      {words.showRow}
    </ButtonLink>
  )
  return (
    <Line state="bad" title={words.auditBroken} actions={actions}>
      {words.auditBrokenText(sequence)} <code>{reason}</code>
    </Line>
  )
}

/** How many budgets are named. */
const mostBudgets = 3

/** The budgets that admit nothing any more, or soon will not: in one line, however many there are. */
function BudgetsAtEnd({ near }: { readonly near: readonly Bucket[] }) {
  const isUsedUp = near.some((bucket) => stateOf(bucket) === 'bad')
  return (
    <Line state={isUsedUp ? 'bad' : 'warning'} title={isUsedUp ? words.budgetsUsedUp : words.budgetsNear}>
      <span className={classes.budgets}>
        {near.slice(0, mostBudgets).map((bucket) => (
          <span key={bucket.id}>
            {bucket.to === undefined ? bucket.whose : <Link to={bucket.to}>{bucket.whose}</Link>} {usedOf(bucket)}
          </span>
        ))}
        {near.length > mostBudgets && <span>{words.moreBudgets(count(near.length - mostBudgets))}</span>}
      </span>
    </Line>
  )
}

const usedOf = (bucket: Bucket): string =>
  stateOf(bucket) === 'bad' || !bucket.budget ? shared.usedUp : shared.usedBy(share(partsOf(bucket.budget).spent))

/** Why something that is shown could not be loaded again; null: all of it could. */
function useOutdated(): Error | null {
  const cache = useQueryClient().getQueryCache()
  const listen = useCallback((listener: () => void) => cache.subscribe(listener), [cache])
  const find = () =>
    cache.findAll({ type: 'active' }).find(({ state }) => state.status === 'error' && state.data !== undefined)
  return useSyncExternalStore(listen, () => find()?.state.error ?? null)
}
