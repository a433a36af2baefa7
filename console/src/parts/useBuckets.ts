import { queryOptions, useQuery } from '@tanstack/react-query'
import type { Answers, Row, Section } from '../api/answers.ts'
import { ask } from '../api/ask.ts'
import { money } from '../format.ts'
import { shared } from '../words.ts'
import { tightestFirst } from './budgets.ts'
import type { Bucket, Budget, Limit } from './budgets.ts'
import { readAll } from './pages.ts'
import { useUser } from './useUser.ts'

/** What is read of a member. */
type Owner = Row<'list-member'>

/** The budgets of all members. Admins only. */
const memberBudgets = queryOptions({
  queryKey: ['members', 'budgets'],
  queryFn: ({ signal }) => readAll<Owner>('/api/team/members', signal),
})

/** `GET /api/me/budget`. */
type OwnBudgets = Answers['show-own-budget']

const ownBudgets = queryOptions({
  queryKey: ['me', 'budget'],
  queryFn: ({ signal }) => ask<OwnBudgets>('GET', '/api/me/budget', { signal }),
})

/** The budgets of the settings. Admins only. */
const settledBudgets = queryOptions({
  queryKey: ['settings', 'rate_limits', 'budget'],
  queryFn: async ({ signal }) =>
    (await ask<Section<'rate_limits'>>('GET', '/api/config/server/rate_limits', { signal })).values.budget,
})

interface BudgetedKey {
  readonly id: string
  readonly budget: Budget | null
  readonly owner: { readonly id: string; readonly username: string } | null
}

interface BudgetedMember {
  readonly id: string
  readonly username: string
  readonly budget: Budget | null
}

/** Finds the buckets that bind a key or a member, tightest first: the own one, the owner's, the gateway's. */
export function useBuckets(): {
  readonly ofKey: (key: BudgetedKey) => readonly Bucket[]
  readonly ofMember: (member: BudgetedMember) => readonly Bucket[]
} {
  const user = useUser()
  const isAdmin = user?.isAdmin ?? false
  const { data: own } = useQuery(ownBudgets)
  const { data: members } = useQuery({ ...memberBudgets, enabled: isAdmin })
  const { data: settled } = useQuery({ ...settledBudgets, enabled: isAdmin })
  const budgetOf = (id: string) => (id === user?.id ? own?.budget : members?.find((member) => member.id === id)?.budget)
  /** With its state, or in words where only the default is known. */
  const bucketOf = (id: string, budget: Budget | null | undefined, usual: Limit | null | undefined) => {
    if (budget) return [{ id, budget }]
    return usual ? [{ id, words: shared.byDefault(limitText(usual)) }] : []
  }
  const ofServer = (): readonly Bucket[] => {
    if (!own?.server) return []
    const usedUp = own.server.exhausted
    const limit = settled?.server ? limitText(settled.server) : ''
    const words = [limit, usedUp ? shared.usedUp : shared.notUsedUp].filter((part) => part !== '').join(', ')
    return [{ id: 'server', whose: shared.wholeGateway, words, usedUp }]
  }
  return {
    ofKey: ({ id, budget, owner }) =>
      tightestFirst([
        ...bucketOf(id, budget, settled?.key_default).map((bucket) => ({ ...bucket, whose: shared.thisKey })),
        ...(owner
          ? bucketOf(owner.id, budgetOf(owner.id), settled?.member_default).map((bucket) => ({
              ...bucket,
              whose: shared.ownerNamed(owner.username),
              to: isAdmin ? `/members/${owner.id}` : undefined,
            }))
          : []),
        ...ofServer(),
      ]),
    ofMember: ({ id, username, budget }) =>
      tightestFirst([
        ...bucketOf(id, budget, settled?.member_default).map((bucket) => ({ ...bucket, whose: username })),
        ...ofServer(),
      ]),
  }
}

const limitText = ({ usd, period }: Limit) => shared.amountPer(money(usd), shared.periods[period])
