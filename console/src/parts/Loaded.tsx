import type { ReactNode } from 'react'
import { Failure } from './Failure.tsx'
import { Skeleton } from './Skeleton.tsx'

interface LoadedProps<T> {
  readonly query: {
    readonly data: T | undefined
    readonly error: Error | null
    readonly refetch: () => Promise<unknown>
  }
  /** Of the skeleton, in pixels. */
  readonly height: number
  readonly children: (data: T) => ReactNode
}

/** What a query has answered; before, a skeleton of its height; and its failure where there is no answer. */
export function Loaded<T>({ query: { data, error, refetch }, height, children }: LoadedProps<T>) {
  if (data !== undefined) return children(data)
  return error ? <Failure error={error} onRetry={() => void refetch()} /> : <Skeleton height={height} />
}
