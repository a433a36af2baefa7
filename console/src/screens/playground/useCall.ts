import { useMutation } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'
import { post, reasonOf, Refused, requestIdOf } from './post.ts'
import type { Outgoing } from './post.ts'
import { useKey } from '../../parts/useKey.ts'
import { words } from './words.ts'

/** A whole answer of the gateway. */
export interface Answer<T> {
  readonly value: T
  /** Milliseconds. */
  readonly took: number
  readonly requestId: string | null
}

export interface Call<T> {
  readonly send: (request: Outgoing) => void
  readonly stop: () => void
  readonly busy: boolean
  readonly answer: Answer<T> | undefined
  /** Why there is none. */
  readonly error: string | undefined
  readonly failedId: string | null
  /** An API key is needed, and there is none. */
  readonly needsKey: boolean
}

/** Requests whose answers come whole; `read` takes what is wanted of a response. */
export function useCall<T>(read: (response: Response) => Promise<T>): Call<T> {
  const [key] = useKey()
  const running = useRef<AbortController>(null)
  // Nobody reads on when the page is left.
  useEffect(() => () => running.current?.abort(), [])
  const { mutate, data, error, isPending } = useMutation({
    mutationFn: async (request: Outgoing): Promise<Answer<T>> => {
      const { signal } = (running.current = new AbortController())
      if (key === '') throw new Refused(words.needsKey, null)
      const start = performance.now()
      let requestId: string | null = null
      try {
        const response = await post(request, key, signal)
        requestId = requestIdOf(response)
        return { value: await read(response), took: performance.now() - start, requestId }
      } catch (failure) {
        throw new Refused(reasonOf(failure, signal), failure instanceof Refused ? failure.requestId : requestId)
      }
    },
  })
  return {
    send: (request) => mutate(request),
    stop: () => running.current?.abort(),
    busy: isPending,
    answer: isPending ? undefined : data,
    error: error?.message,
    failedId: error instanceof Refused ? error.requestId : null,
    needsKey: key === '' && error?.message === words.needsKey,
  }
}
