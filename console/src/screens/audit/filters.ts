import { useEffect, useMemo } from 'react'
import { allOf, oneOf, useAddress } from '../../parts/search.ts'
import { leaving, valuesOf } from '../../parts/FilterBar.tsx'
import type { FilterField, FilterValue } from '../../parts/FilterBar.tsx'
import { toast } from '../../parts/toast.tsx'
import { shared } from '../../words.ts'
import { words } from './words.ts'

/** What is audited (beside it, plugins may add actions of their own). */
const actions = [
  'access.refused',
  'api_key.create',
  'api_key.delete',
  'api_key.reset_budget',
  'api_key.rotate',
  'api_key.update',
  'auth.login',
  'auth.logout',
  'auth.refused',
  'auth.setup',
  'breaker.reset',
  'config.reload',
  'experience.reset',
  'logs.cleanup',
  'mcp_server.approve',
  'mcp_server.create',
  'mcp_server.delete',
  'mcp_server.tools_changed',
  'mcp_server.update',
  'me.password',
  'me.tracing',
  'me.username',
  'member.create',
  'member.delete',
  'member.reset_budget',
  'member.reset_password',
  'member.update',
  'model.create',
  'model.delete',
  'model.sync_metadata',
  'model.sync_pricing',
  'model.update',
  'provider.create',
  'provider.delete',
  'provider.reveal_key',
  'provider.test',
  'provider.update',
  'routing.export',
  'settings.reset',
  'settings.update',
]

/** The filters of the trail in the order of the menu. */
export function fieldsOf(members: readonly FilterValue[] | undefined): readonly FilterField[] {
  const { fields, outcomes } = words
  const moment = new Date().toISOString().slice(0, 10)
  return [
    {
      name: 'action',
      label: fields.action,
      values: actions.map((value) => ({ value, label: value })),
      typed: true,
      leavable: true,
    },
    { name: 'actor', label: fields.actor, ...(members ? { values: members } : {}), typed: !members, leavable: true },
    { name: 'target', label: fields.target, typed: true, example: words.targetExample, leavable: true },
    { name: 'outcome', label: fields.outcome, values: valuesOf(outcomes), leavable: true },
    { name: 'since', label: fields.since, typed: true, single: true, example: moment },
    { name: 'until', label: fields.until, typed: true, single: true, example: moment },
  ]
}

const lists = ['action', 'actor', 'target', 'outcome'].flatMap((name) => [name, leaving(name)])
const moments = ['since', 'until'] as const

/** The filters of the address as the route takes them. What is no filter is taken out of the address, and told. */
export function useFilters(): Readonly<Record<string, string | readonly string[]>> {
  const [search, change] = useAddress()
  const wrong = [
    ...moments.filter((name) => name in search && Number.isNaN(Date.parse(oneOf(search, name) ?? ''))),
    ...['outcome', leaving('outcome')].filter((name) => !allOf(search, name).every((value) => value in words.outcomes)),
  ].join(' ')
  useEffect(() => {
    if (wrong === '') return
    const names = wrong.split(' ')
    for (const name of names) toast(shared.wrongInAddress(name))
    change(Object.fromEntries(names.map((name) => [name, undefined])))
  }, [wrong, change])
  return useMemo(() => {
    const given = (name: string) => name in search && !wrong.split(' ').includes(name)
    return Object.fromEntries([
      ...lists.filter(given).map((name) => [name, allOf(search, name)]),
      ...moments.filter(given).map((name) => [name, new Date(oneOf(search, name) ?? '').toISOString()]),
    ])
  }, [search, wrong])
}
