import { useQueryClient } from '@tanstack/react-query'
import { oneMember } from './api.ts'
import type { Member } from './api.ts'

/** Puts a member as it was answered into what is shown. */
export function useShowMember(): (member: Member) => void {
  const queries = useQueryClient()
  return (member) => {
    queries.setQueryData(oneMember(member.id).queryKey, member)
    for (const list of ['list', 'budgets']) void queries.invalidateQueries({ queryKey: ['members', list] })
    void queries.invalidateQueries({ queryKey: ['names', 'member'] })
  }
}
