import { queryOptions } from '@tanstack/react-query'
import type { Answers, Row } from '../api/answers.ts'
import { ask } from '../api/ask.ts'
import { shared } from '../words.ts'
import { partsOf } from './budgets.ts'
import type { Bucket, Budget } from './budgets.ts'
import { readAll } from './pages.ts'
import type { ListPage } from './pages.ts'
import type { User } from './useUser.ts'

/** What is read of `GET /api/me/budget`. */
type OwnBudgets = Answers['show-own-budget']

/** What is read of `GET /api/api-keys/spend-summary`. */
type Spend = Row<'get-spend'>

type Member = Row<'list-member'>

type Holder = Pick<Bucket, 'id' | 'whose' | 'to'> & { readonly budget: Budget | null }

const keyHolder = ({ id, name }: NonNullable<Spend['key']>, budget: Budget | null): Holder => ({
  id,
  whose: name,
  to: `/keys/${encodeURIComponent(id)}`,
  budget,
})

/** Part of a budget that is spent or held. */
const takenOf = ({ budget, usedUp }: Bucket): number => (budget ? partsOf(budget).taken : usedUp ? 1 : 0)

const nearestFirst = (holders: readonly Holder[]): readonly Bucket[] =>
  holders
    .flatMap(({ budget, ...whose }) => (budget ? [{ ...whose, budget }] : []))
    .toSorted((one, other) => takenOf(other) - takenOf(one))

/** That the gateway admits nothing any more, which comes before all else; how much it spent is not told. */
const ofServer = ({ server }: OwnBudgets): readonly Bucket[] =>
  server?.exhausted ? [{ id: 'server', whose: shared.wholeGateway, words: shared.usedUp, usedUp: true }] : []

async function everybodys(signal: AbortSignal): Promise<readonly Bucket[]> {
  const [own, spending, members] = await Promise.all([
    ask<OwnBudgets>('GET', '/api/me/budget', { signal }),
    ask<ListPage<Spend>>('GET', '/api/api-keys/spend-summary', { query: { limit: 200 }, signal }),
    readAll<Member>('/api/team/members', signal),
  ])
  const ofKeys = spending.data.flatMap(({ key, budget }) => (key ? keyHolder(key, budget) : []))
  const ofMembers = members.map(({ id, username: whose, budget }) => ({ id, whose, to: `/members/${id}`, budget }))
  return [...ofServer(own), ...nearestFirst([...ofKeys, ...ofMembers])]
}

/** The own budget comes before those of the own keys, which it limits. */
async function own({ id, username: whose }: User, signal: AbortSignal): Promise<readonly Bucket[]> {
  const budgets = await ask<OwnBudgets>('GET', '/api/me/budget', { signal })
  const ofKeys = budgets.keys.map(({ budget, ...key }) => keyHolder(key, budget))
  return [...ofServer(budgets), ...nearestFirst([{ id, whose, budget: budgets.budget }]), ...nearestFirst(ofKeys)]
}

/** The budgets that a user may see, those that are used up the most first: of keys and members, or the own ones. */
export const nearestBudgets = (user: User | null) =>
  queryOptions({
    queryKey: ['budgets', 'nearest', user?.id, user?.role],
    queryFn: ({ signal }) => (user === null ? [] : user.isAdmin ? everybodys(signal) : own(user, signal)),
    refetchInterval: 60_000,
  })
