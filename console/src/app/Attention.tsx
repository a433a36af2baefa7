import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useCallback, useSyncExternalStore } from 'react'
import type { ReactNode } from 'react'
import { Link } from '@tanstack/react-router'
import { auditVerdict, health, newerBuild } from '../api/attention.ts'
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
import { useCauses } from './causes.tsx'
import { words } from './words.ts'
import classes from './Attention.module.css'

/** What is wrong now, one line each. A line goes when its cause does. */
export function Attention() {
  const user = useUser()
  const ofServing = useServing()
  const ofCauses = useCauses(user?.isAdmin ?? false)
  const ofParts = useParts(user?.isAdmin ?? false)
  const { data: budgets = [] } = useQuery(nearestBudgets(user))
  const { data: isOld = false } = useQuery(newerBuild)
  // Who was given nothing has not used it up.
  const near = budgets.filter((bucket) => bucket.budget?.usd !== 0 && stateOf(bucket) !== undefined)
  const lines = [
    ...ofServing,
    ...ofCauses,
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

/** The parts of the gateway that nobody is told of, and do not work as they should. For admins. */
function useParts(isAdmin: boolean): readonly ReactNode[] {
  const enabled = isAdmin
  const { data: status } = useQuery({ ...configurationStatus, enabled })
  const { data: verdict } = useQuery({ ...auditVerdict, enabled })
  const { data: { degraded = [] } = {} } = useQuery({ ...health, enabled })
  if (!isAdmin) return []
  const risks = status?.risks ?? []
  const others = status?.processes.filter(({ current }) => !current).length ?? 0
  const unproven = verdict?.first_bad && words.auditUnproven[verdict.first_bad.reason]
  const toConfiguration = (
    <ButtonLink small to="/configuration">
      {words.showConfiguration}
    </ButtonLink>
  )
  return [
    risks[0] && (
      <Line key="risks" state="warning" title={words.risks} actions={toConfiguration}>
        <code>{`${risks[0].file}:${risks[0].line}:${risks[0].column}`}</code> {risks[0].message}{' '}
        {risks.length > 1 && words.moreFindings(risks.length - 1)}
      </Line>
    ),
    ...degraded
      .filter((part) => !told.includes(part))
      .map((part) => (
        <Line
          key={`part ${part}`}
          state="warning"
          title={words.parts[part]?.title ?? words.otherPart}
          actions={part === 'records' && toConfiguration}
        >
          {words.parts[part]?.text ?? words.otherPartText(part)}
        </Line>
      )),
    others > 0 && (
      <Line key="processes" state="warning" title={words.otherVersions} actions={toConfiguration}>
        {words.otherVersionsText(others)}
      </Line>
    ),
    unproven && (
      <Line key="audit" state="warning" title={unproven.title}>
        {unproven.text}
      </Line>
    ),
  ]
}

/** Degraded parts that have a cause of their own. */
const told = ['key_value', 'requests', 'notifications', 'traces', 'telemetry', 'metrics']

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
