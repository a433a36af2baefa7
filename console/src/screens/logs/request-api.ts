import { queryOptions } from '@tanstack/react-query'
import { ask } from '../../api/ask.ts'
import type { Detail } from './row.ts'

export const oneRequest = (id: string) =>
  queryOptions({
    queryKey: ['logs', 'request', id],
    queryFn: ({ signal }) => ask<Detail>('GET', `/api/logs/${encodeURIComponent(id)}`, { signal }),
  })
